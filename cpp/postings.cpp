// Exact cosine top-k over an inverted index (VS3).
//
// Similarities are first summed in float32: the hottest terms by a dense matrix
// product that the caller has done, all others along their postings. That sum is
// off by at most `band`; documents within reach of the k-th are then scored anew in
// float64 from their rows, so that neither float32 nor the order of sums shows.
#include "arrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nanobind/stl/tuple.h>
#include <tuple>

namespace {

inline void fetch_early([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place);
#endif
}

struct Rows {
    const int64_t* indptr;
    const int32_t* indices;
    const double* data;
};

// Postings of the columns that are not hot, and the dense block of those that are.
std::tuple<Given<int64_t>, Given<int32_t>, Given<float>>
build_postings(In<int64_t> indptr, In<int32_t> indices, In<double> data,
               In<int32_t> hot_position, Out2<float> block) {
    const auto n_columns = static_cast<int64_t>(hot_position.size());
    const auto n_rows = static_cast<int64_t>(indptr.size()) - 1;
    std::vector<int64_t> starts(n_columns + 1, 0);
    std::vector<int32_t> docs;
    std::vector<float> weights;
    {
        nb::gil_scoped_release release;
        const Rows rows{indptr.data(), indices.data(), data.data()};
        const int32_t* hot = hot_position.data();
        float* dense = block.data();
        const auto width = static_cast<int64_t>(block.shape(1));
        for (int64_t p = 0; p < rows.indptr[n_rows]; ++p)
            if (hot[rows.indices[p]] < 0) ++starts[rows.indices[p] + 1];
        for (int64_t t = 0; t < n_columns; ++t) starts[t + 1] += starts[t];
        docs.resize(starts[n_columns]);
        weights.resize(starts[n_columns]);
        std::vector<int64_t> next(starts.begin(), starts.end() - 1);
        for (int64_t d = 0; d < n_rows; ++d)
            for (int64_t p = rows.indptr[d]; p < rows.indptr[d + 1]; ++p) {
                const int32_t term = rows.indices[p];
                const auto weight = static_cast<float>(rows.data[p]);
                if (hot[term] >= 0) {
                    dense[d * width + hot[term]] = weight;
                } else {
                    docs[next[term]] = static_cast<int32_t>(d);
                    weights[next[term]++] = weight;
                }
            }
    }
    return {give_array(std::move(starts)), give_array(std::move(docs)),
            give_array(std::move(weights))};
}

struct Candidate {
    double score;
    int32_t doc;
    bool operator<(const Candidate& other) const { // best first, ties by position
        return score != other.score ? score > other.score : doc < other.doc;
    }
};

// Every document whose float32 score may belong to the k best, in one scan.
class Shortlist {
  public:
    Shortlist(size_t k, float band, float floor) : k_(k), reach_(2 * band), least_(floor) {
        limit_ = 4 * k + 64;
    }

    // `score` gets the dense part added and is looked through.
    void scan(float* score, const float* dense, int64_t n) {
        constexpr int64_t kBlock = 64;
        for (int64_t start = 0; start < n; start += kBlock) {
            const int64_t stop = std::min(n, start + kBlock);
            const float least = least_; // a copy: the writes below must not hide it
            int any = 0;
            for (int64_t d = start; d < stop; ++d) {
                score[d] += dense[d];
                any |= score[d] > least;
            }
            if (!any) continue;
            for (int64_t d = start; d < stop; ++d)
                if (score[d] > least_) {
                    found_.push_back({score[d], static_cast<int32_t>(d)});
                    if (found_.size() >= limit_) prune();
                }
        }
        prune();
    }
    std::vector<Candidate>& found() { return found_; }

  private:
    // Raise the bar to the k-th best so far, less what rounding may hide.
    void prune() {
        if (found_.size() > k_) {
            std::nth_element(found_.begin(), found_.begin() + (k_ - 1), found_.end());
            least_ = std::max(least_, static_cast<float>(found_[k_ - 1].score) - reach_);
            const double least = least_;
            found_.erase(std::remove_if(found_.begin(), found_.end(),
                                        [least](const Candidate& c) { return c.score <= least; }),
                         found_.end());
        }
        if (2 * found_.size() > limit_) limit_ *= 2;
    }

    size_t k_, limit_;
    float reach_, least_;
    std::vector<Candidate> found_;
};

void top_similar(In<int64_t> query_indptr, In<int32_t> query_indices, In<double> query_data,
                 In<int64_t> exclude, In2<float> scores, In<int32_t> hot_position,
                 In<int64_t> starts, In<int32_t> docs, In<float> weights, In<int64_t> row_indptr,
                 In<int32_t> row_indices, In<double> row_data, bool is_signed,
                 Out2<double> out_similarity, Out2<int64_t> out_docs) {
    nb::gil_scoped_release release;
    const Rows query{query_indptr.data(), query_indices.data(), query_data.data()};
    const Rows row{row_indptr.data(), row_indices.data(), row_data.data()};
    const int32_t* hot = hot_position.data();
    const int64_t* from = starts.data();
    const auto n_docs = static_cast<int64_t>(scores.shape(1));
    const auto k = static_cast<int64_t>(out_docs.shape(1));
    const int32_t* doc = docs.data();
    const float* doc_weight = weights.data();
    std::vector<double> dense(hot_position.size(), 0.0);
    std::vector<float> sums(n_docs);
    for (int64_t q = 0; q < static_cast<int64_t>(out_docs.shape(0)); ++q) {
        const int64_t begin = query.indptr[q], end = query.indptr[q + 1];
        // The sums of one query stay in the cache; the dense part streams in later.
        std::fill(sums.begin(), sums.end(), 0.0F);
        float* score = sums.data();
        for (int64_t p = begin; p < end; ++p) {
            const int32_t term = query.indices[p];
            if (p + 2 < end) { // lists are short and lie far apart
                fetch_early(doc + from[query.indices[p + 2]]);
                fetch_early(doc_weight + from[query.indices[p + 2]]);
            }
            if (hot[term] >= 0) continue;
            const auto weight = static_cast<float>(query.data[p]);
            for (int64_t i = from[term]; i < from[term + 1]; ++i)
                score[doc[i]] += weight * doc_weight[i];
        }
        if (exclude.data()[q] >= 0)
            score[exclude.data()[q]] = -std::numeric_limits<float>::infinity();
        // |error| <= (number of terms + 4) 2^-24 for vectors of length 1.
        const auto band = static_cast<float>((end - begin + 4) * std::ldexp(1.02, -24));
        Shortlist shortlist(k, band, is_signed ? -band : 0.0F);
        shortlist.scan(score, scores.data() + q * n_docs, n_docs);
        for (int64_t p = begin; p < end; ++p) dense[query.indices[p]] += query.data[p];
        auto& found = shortlist.found();
        for (auto& candidate : found) {
            double sum = 0.0;
            for (int64_t p = row.indptr[candidate.doc]; p < row.indptr[candidate.doc + 1]; ++p)
                sum += dense[row.indices[p]] * row.data[p];
            candidate.score = sum;
        }
        const auto kept = std::min<int64_t>(k, static_cast<int64_t>(found.size()));
        std::partial_sort(found.begin(), found.begin() + kept, found.end());
        for (int64_t i = 0; i < kept && found[i].score > 0.0; ++i) {
            out_similarity.data()[q * k + i] = found[i].score;
            out_docs.data()[q * k + i] = found[i].doc;
        }
        for (int64_t p = begin; p < end; ++p) dense[query.indices[p]] = 0.0;
    }
}

} // namespace

void bind_postings(nb::module_& m) {
    m.def("build_postings", &build_postings, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("data"), nb::arg("hot_position"), nb::arg("block"),
          "Starts, documents and weights of the postings; fills the dense block.");
    m.def("top_similar", &top_similar, nb::arg("query_indptr"), nb::arg("query_indices"),
          nb::arg("query_data"), nb::arg("exclude"), nb::arg("scores"), nb::arg("hot_position"),
          nb::arg("starts"), nb::arg("docs"), nb::arg("weights"), nb::arg("row_indptr"),
          nb::arg("row_indices"), nb::arg("row_data"), nb::arg("is_signed"),
          nb::arg("out_similarity"), nb::arg("out_docs"),
          "Fill in the most similar rows of each query; `scores` holds the hot part.");
}
