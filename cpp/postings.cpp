// Exact cosine top-k over an inverted index (VS3).
//
// Similarities are first summed in float32: the hottest terms by a dense matrix
// product that the caller has done, all others along their postings. That sum is
// off by at most `band`; documents within reach of the k-th are then scored anew in
// float64 from their rows, so that neither float32 nor the order of sums shows.
#include "sparse_rows.hpp"

#include <limits>

namespace {

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
    Shortlist(size_t k, float band, float floor) : k_(k), reach_(2 * band), least_(floor) { limit_ = 4 * k + 64; }

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
            found_.erase(
                std::remove_if(found_.begin(), found_.end(), [least](const Candidate& c) { return c.score <= least; }),
                found_.end());
        }
        if (2 * found_.size() > limit_) limit_ *= 2;
    }

    size_t k_, limit_;
    float reach_, least_;
    std::vector<Candidate> found_;
};

// The most similar rows wanted of each query, and where they go.
struct Wanted {
    const std::int64_t* exclude; // a row that the query may not find, or -1
    bool is_signed;
    std::int64_t k;
    double* similarity;
    std::int64_t* docs;
};

// Unit rows, the postings of the columns that are not hot, and the dense block of those
// that are. Checked once, when it is made.
class Postings {
  public:
    Postings(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<std::int32_t> hot_position,
             Out2<float> block)
        : owners_{nb::cast(indptr), nb::cast(indices), nb::cast(data)},
          rows_(value_rows(indptr, indices, data, hot_position.size())),
          hot_(hot_position.data(), hot_position.data() + hot_position.size()), starts_(hot_.size() + 1, 0) {
        const std::size_t width = block.shape(1);
        require_shape(block, rows_.n_rows, width, "block");
        require_range(hot_position, static_cast<std::int64_t>(width), "hot_position", -1);
        nb::gil_scoped_release release;
        for (std::int64_t p = 0; p < rows_.n_entries(); ++p)
            if (hot_[rows_.indices[p]] < 0) ++starts_[rows_.indices[p] + 1];
        for (std::size_t t = 0; t < hot_.size(); ++t) starts_[t + 1] += starts_[t];
        docs_.resize(starts_.back());
        weights_.resize(starts_.back());
        std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
        for (std::int64_t d = 0; d < rows_.n_rows; ++d)
            for (std::int64_t p = rows_.indptr[d]; p < rows_.indptr[d + 1]; ++p) {
                const std::int32_t term = rows_.indices[p];
                const auto weight = static_cast<float>(rows_.data[p]);
                if (hot_[term] >= 0) {
                    block.data()[d * width + hot_[term]] = weight;
                } else {
                    docs_[next[term]] = static_cast<std::int32_t>(d);
                    weights_[next[term]++] = weight;
                }
            }
    }

    // Fill in the most similar rows of each query; `scores` holds the hot part.
    void top_similar(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<std::int64_t> exclude,
                     In2<float> scores, bool is_signed, Out2<double> out_similarity,
                     Out2<std::int64_t> out_docs) const {
        const SparseRows queries = value_rows(indptr, indices, data, hot_.size());
        const std::size_t k = out_docs.shape(1);
        require_size(exclude, queries.n_rows, "exclude");
        require_range(exclude, rows_.n_rows, "exclude", -1);
        require_shape(scores, queries.n_rows, rows_.n_rows, "scores");
        require_shape(out_docs, queries.n_rows, k, "out_docs");
        require_shape(out_similarity, queries.n_rows, k, "out_similarity");
        require(k >= 1, "out_docs: expected at least one column.");
        const Wanted wanted{exclude.data(), is_signed, static_cast<std::int64_t>(k), out_similarity.data(),
                            out_docs.data()};
        nb::gil_scoped_release release;
        std::vector<double> dense(hot_.size(), 0.0);
        std::vector<float> sums(rows_.n_rows);
        for (std::int64_t q = 0; q < queries.n_rows; ++q)
            search(queries, q, scores.data() + q * rows_.n_rows, wanted, dense, sums);
    }

  private:
    // `dense` is zero before and after: the query as a dense vector.
    void search(const SparseRows& queries, std::int64_t q, const float* hot_scores, const Wanted& wanted,
                std::vector<double>& dense, std::vector<float>& sums) const {
        const std::int64_t begin = queries.indptr[q], end = queries.indptr[q + 1];
        add_postings(queries, begin, end, sums);
        if (wanted.exclude[q] >= 0) sums[wanted.exclude[q]] = -std::numeric_limits<float>::infinity();
        // |error| <= (number of terms + 4) 2^-24 for vectors of length 1.
        const auto band = static_cast<float>((end - begin + 4) * std::ldexp(1.02, -24));
        Shortlist shortlist(wanted.k, band, wanted.is_signed ? -band : 0.0F);
        shortlist.scan(sums.data(), hot_scores, rows_.n_rows);
        for (std::int64_t p = begin; p < end; ++p) dense[queries.indices[p]] += queries.data[p];
        auto& found = shortlist.found();
        for (auto& candidate : found) {
            double sum = 0.0;
            for (std::int64_t p = rows_.indptr[candidate.doc]; p < rows_.indptr[candidate.doc + 1]; ++p)
                sum += dense[rows_.indices[p]] * rows_.data[p];
            candidate.score = sum;
        }
        const auto n = std::min<std::int64_t>(wanted.k, static_cast<std::int64_t>(found.size()));
        std::partial_sort(found.begin(), found.begin() + n, found.end());
        for (std::int64_t i = 0; i < n && found[i].score > 0.0; ++i) {
            wanted.similarity[q * wanted.k + i] = found[i].score;
            wanted.docs[q * wanted.k + i] = found[i].doc;
        }
        for (std::int64_t p = begin; p < end; ++p) dense[queries.indices[p]] = 0.0;
    }

    // The sums of one query stay in the cache; the dense part streams in later.
    void add_postings(const SparseRows& queries, std::int64_t begin, std::int64_t end, std::vector<float>& sums) const {
        std::fill(sums.begin(), sums.end(), 0.0F);
        float* score = sums.data();
        for (std::int64_t p = begin; p < end; ++p) {
            const std::int32_t term = queries.indices[p];
            if (p + 2 < end) { // lists are short and lie far apart
                prefetch(docs_.data() + starts_[queries.indices[p + 2]]);
                prefetch(weights_.data() + starts_[queries.indices[p + 2]]);
            }
            const auto weight = static_cast<float>(queries.data[p]);
            for (std::int64_t i = starts_[term]; i < starts_[term + 1]; ++i) score[docs_[i]] += weight * weights_[i];
        }
    }

    std::vector<nb::object> owners_; // of the rows
    SparseRows rows_;
    std::vector<std::int32_t> hot_;    // column of a hot term in the block, or -1
    std::vector<std::int64_t> starts_; // the postings of term t are at starts[t] .. starts[t + 1]
    std::vector<std::int32_t> docs_;
    std::vector<float> weights_;
};

} // namespace

void bind_postings(nb::module_& m) {
    nb::class_<Postings>(m, "Postings")
        .def(nb::init<In<std::int64_t>, In<std::int32_t>, In<double>, In<std::int32_t>, Out2<float>>(), "indptr"_a,
             "indices"_a, "data"_a, "hot_position"_a, "block"_a.noconvert())
        .def("top_similar", &Postings::top_similar, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "exclude"_a,
             "scores"_a, "is_signed"_a, "out_similarity"_a.noconvert(), "out_docs"_a.noconvert());
}
