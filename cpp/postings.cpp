// Exact cosine top-k over an inverted index (VS3).
//
// Similarities are first summed in float32: the hottest terms by a dense matrix
// product that the caller has done, others along their postings. Frequent terms that
// weigh little in a query are left out: by Cauchy and Schwarz they add at most the
// product of both vectors' lengths in these terms. The k documents of the largest sums
// are scored anew in float64 from their rows; so is every other one whose sum, with
// that product and with what float32 may have lost, reaches the k-th best. Neither
// float32 nor what was left out shows in the result.
#include "sparse_rows.hpp"

#include <limits>
#include <nanobind/stl/optional.h>
#include <optional>

namespace {

struct Candidate {
    double score;
    int32_t doc;
    bool operator<(const Candidate& other) const { // best first, ties by position
        return score != other.score ? score > other.score : doc < other.doc;
    }
};

// The k best of what is offered; the worst of them is at hand.
class Best {
  public:
    // `found` has at most k.
    Best(std::size_t k, std::vector<Candidate>&& found) : k_(k), found_(std::move(found)) {
        std::make_heap(found_.begin(), found_.end());
    }

    void offer(const Candidate& one) {
        if (found_.size() == k_) {
            if (!(one < found_.front())) return;
            std::pop_heap(found_.begin(), found_.end());
            found_.pop_back();
        }
        found_.push_back(one);
        std::push_heap(found_.begin(), found_.end());
    }
    // What a score must reach to be among them; `floor` while there are fewer than k.
    double least(double floor) const { return found_.size() == k_ ? found_.front().score : floor; }
    const std::vector<Candidate>& sorted() {
        std::sort_heap(found_.begin(), found_.end());
        return found_;
    }

  private:
    std::size_t k_;
    std::vector<Candidate> found_;
};

// The k best of many, found by cutting a list back whenever it is long: where k is not
// small this costs less than a heap, and the bar may lag behind.
class Shortlist {
  public:
    Shortlist(std::size_t k, float floor) : k_(k), bar_(floor) { list_.reserve(room()); }

    float bar() const { return bar_; }
    void add(const Candidate& one) {
        list_.push_back(one);
        if (list_.size() == room()) cut();
    }
    std::vector<Candidate> take() {
        if (list_.size() > k_) cut();
        return std::move(list_);
    }

  private:
    std::size_t room() const { return 2 * k_ + 16; }
    void cut() {
        std::nth_element(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(k_ - 1), list_.end());
        list_.resize(k_);
        bar_ = static_cast<float>(list_.back().score);
    }

    std::size_t k_;
    float bar_;
    std::vector<Candidate> list_;
};

// Calls take(d) for each document whose score is above what above() says at that moment.
template <typename Above, typename Take> void scan(const float* score, std::int64_t n, Above above, Take take) {
    constexpr std::int64_t kBlock = 64;
    for (std::int64_t start = 0; start < n; start += kBlock) {
        const std::int64_t stop = std::min(n, start + kBlock);
        const float least = above(); // a copy, so that the loop runs in wide registers
        int any = 0;
        for (std::int64_t d = start; d < stop; ++d) any |= score[d] > least;
        if (!any) continue;
        for (std::int64_t d = start; d < stop; ++d)
            if (score[d] > above()) take(d);
    }
}

// Terms in more than these shares of the documents, level by level, are left out of a
// query at first, if their length in it is not above kMostLeftOut, and for good, if then
// at most kFew other documents can be among the best.
constexpr double kShares[] = {0.03, 0.06, 0.12, 0.24};
constexpr int kLevels = 4;
constexpr float kMostLeftOut = 0.3F;
constexpr std::int64_t kFew = 32;

// The length of a vector in the terms above each level.
struct Lengths {
    float of[kLevels];
    int first() const { // the lowest level above which little is left
        int level = kLevels;
        while (level > 0 && of[level - 1] <= kMostLeftOut) --level;
        return level;
    }
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
        set_levels();
    }

    // Fill in the most similar rows of each query; `scores` holds the hot part.
    void top_similar(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, In<std::int64_t> exclude,
                     std::optional<In2<float>> scores, bool is_signed, Out2<double> out_similarity,
                     Out2<std::int64_t> out_docs) const {
        const SparseRows queries = value_rows(indptr, indices, data, hot_.size());
        const std::size_t k = out_docs.shape(1);
        require_size(exclude, queries.n_rows, "exclude");
        require_range(exclude, rows_.n_rows, "exclude", -1);
        if (scores) require_shape(*scores, queries.n_rows, rows_.n_rows, "scores");
        require_shape(out_docs, queries.n_rows, k, "out_docs");
        require_shape(out_similarity, queries.n_rows, k, "out_similarity");
        require(k >= 1, "out_docs: expected at least one column.");
        const Wanted wanted{exclude.data(), is_signed, static_cast<std::int64_t>(k), out_similarity.data(),
                            out_docs.data()};
        nb::gil_scoped_release release;
        std::vector<double> query(hot_.size(), 0.0);
        std::vector<float> sums(rows_.n_rows);
        for (std::int64_t q = 0; q < queries.n_rows; ++q)
            search(queries, q, scores ? scores->data() + q * rows_.n_rows : nullptr, wanted, query, sums);
    }

  private:
    // `query`, a weight per term, is all 0 before and after.
    void search(const SparseRows& queries, std::int64_t q, const float* hot_scores, const Wanted& wanted,
                std::vector<double>& query, std::vector<float>& sums) const {
        const std::int64_t begin = queries.indptr[q], end = queries.indptr[q + 1], n = rows_.n_rows;
        for (std::int64_t p = begin; p < end; ++p) query[queries.indices[p]] += queries.data[p];
        const Lengths lengths = lengths_of(queries, begin, end);
        // Where many are wanted, few can be ruled out.
        int level = wanted.k > kFew ? kLevels : lengths.first();
        if (hot_scores) {
            std::copy(hot_scores, hot_scores + n, sums.begin());
        } else {
            std::fill(sums.begin(), sums.end(), 0.0F);
        }
        add_postings(queries, begin, end, 0, level, sums.data());
        if (wanted.exclude[q] >= 0) sums[wanted.exclude[q]] = -std::numeric_limits<float>::infinity();
        // |error| <= (number of terms + 8) 2^-24 for vectors of length 1.
        const auto band = static_cast<float>((end - begin + 8) * std::ldexp(1.02, -24));
        const float floor = wanted.is_signed ? -band : 0.0F;
        Best best = first_best(sums, wanted.k, floor, query);
        const auto least = [&] { return std::max(floor, static_cast<float>(best.least(0.0)) - band); };
        // Too many in reach: what was left out is added after all, level by level.
        while (level < kLevels && n_above(sums, lengths.of[level], level, least()) > kFew) {
            ++level;
            add_postings(queries, begin, end, level, level, sums.data());
        }
        if (level < kLevels)
            for (std::int64_t d = 0; d < n; ++d) sums[d] += lengths.of[level] * light_[level * n + d];
        scan(sums.data(), n, least, [&](std::int64_t d) {
            best.offer({exact(d, query), static_cast<std::int32_t>(d)});
        });
        const auto& found = best.sorted();
        for (std::size_t i = 0; i < found.size() && found[i].score > 0.0; ++i) {
            wanted.similarity[q * wanted.k + i] = found[i].score;
            wanted.docs[q * wanted.k + i] = found[i].doc;
        }
        for (std::int64_t p = begin; p < end; ++p) query[queries.indices[p]] = 0.0;
    }

    // The k documents of the largest sums, scored exactly; their sums are crossed out.
    Best first_best(std::vector<float>& sums, std::int64_t k, float floor, const std::vector<double>& query) const {
        Shortlist largest(k, floor);
        scan(
            sums.data(), rows_.n_rows, [&] { return largest.bar(); },
            [&](std::int64_t d) {
                largest.add({sums[d], static_cast<std::int32_t>(d)});
            });
        std::vector<Candidate> first = largest.take();
        for (const auto& one : first) prefetch_row(one.doc);
        for (auto& one : first) {
            sums[one.doc] = -std::numeric_limits<float>::infinity();
            one.score = exact(one.doc, query);
        }
        return Best(k, std::move(first));
    }

    // How many sums, with the most that the terms above a level can add, are above a bar.
    std::int64_t n_above(const std::vector<float>& sums, float length, int level, float least) const {
        const float* light = light_.data() + level * rows_.n_rows;
        std::int32_t n = 0;
        for (std::int64_t d = 0; d < rows_.n_rows; ++d) n += sums[d] + length * light[d] > least;
        return n;
    }

    // The product of a row with the query, term by term in order.
    double exact(std::int64_t d, const std::vector<double>& query) const {
        double sum = 0.0;
        for (std::int64_t p = rows_.indptr[d]; p < rows_.indptr[d + 1]; ++p)
            sum += query[rows_.indices[p]] * rows_.data[p];
        return sum;
    }

    void prefetch_row(std::int64_t d) const {
        for (std::int64_t p = rows_.indptr[d]; p < rows_.indptr[d + 1]; p += 16) prefetch(rows_.indices + p);
    }

    Lengths lengths_of(const SparseRows& x, std::int64_t begin, std::int64_t end) const {
        double squares[kLevels + 1] = {};
        for (std::int64_t p = begin; p < end; ++p) squares[level_[x.indices[p]]] += x.data[p] * x.data[p];
        Lengths lengths{};
        double sum = 0.0;
        for (int level = kLevels; level > 0; --level)
            lengths.of[level - 1] = static_cast<float>(std::sqrt(sum += squares[level]));
        return lengths;
    }

    // Add what the query's terms of some levels give to each document.
    void add_postings(const SparseRows& queries, std::int64_t begin, std::int64_t end, int lowest, int highest,
                      float* score) const {
        for (std::int64_t p = begin; p < end; ++p) {
            const std::int32_t term = queries.indices[p];
            if (p + 2 < end) { // lists are short and lie far apart
                prefetch(docs_.data() + starts_[queries.indices[p + 2]]);
                prefetch(weights_.data() + starts_[queries.indices[p + 2]]);
            }
            if (level_[term] < lowest || level_[term] > highest) continue;
            const auto weight = static_cast<float>(queries.data[p]);
            for (std::int64_t i = starts_[term]; i < starts_[term + 1]; ++i) score[docs_[i]] += weight * weights_[i];
        }
    }

    // Level of each term by its documents, and each row's length in the terms above each level.
    void set_levels() {
        level_.assign(hot_.size(), 0);
        light_.assign(kLevels * rows_.n_rows, 0.0F);
        for (std::size_t t = 0; t < hot_.size(); ++t)
            for (const double share : kShares)
                level_[t] += static_cast<double>(starts_[t + 1] - starts_[t]) > share * rows_.n_rows;
        for (std::int64_t d = 0; d < rows_.n_rows; ++d) {
            const Lengths lengths = lengths_of(rows_, rows_.indptr[d], rows_.indptr[d + 1]);
            for (int level = 0; level < kLevels; ++level) light_[level * rows_.n_rows + d] = lengths.of[level];
        }
    }

    std::vector<nb::object> owners_; // of the rows
    SparseRows rows_;
    std::vector<std::int32_t> hot_;    // column of a hot term in the block, or -1
    std::vector<std::int64_t> starts_; // the postings of term t are at starts[t] .. starts[t + 1]
    std::vector<std::int32_t> docs_;
    std::vector<float> weights_;
    std::vector<std::uint8_t> level_; // of a term: how many of kShares its documents exceed
    std::vector<float> light_;        // [level][row]: length in the terms above the level
};

} // namespace

void bind_postings(nb::module_& m) {
    nb::class_<Postings>(m, "Postings")
        .def(nb::init<In<std::int64_t>, In<std::int32_t>, In<double>, In<std::int32_t>, Out2<float>>(), "indptr"_a,
             "indices"_a, "data"_a, "hot_position"_a, "block"_a.noconvert())
        .def("top_similar", &Postings::top_similar, "indptr"_a, "indices"_a, "data"_a, nb::kw_only(), "exclude"_a,
             "scores"_a.none(), "is_signed"_a, "out_similarity"_a.noconvert(), "out_docs"_a.noconvert());
}
