// Fused passes: documents straight to class sums, or to linear scores. No matrix
// of documents is ever made.
#pragma once

#include "sparse_rows.hpp"
#include "text_vocabulary.hpp"

#include <cmath>
#include <memory>

namespace text {

// Tokens and documents of one term in one class: 16 bytes, four a cache line.
struct ClassSum {
    std::uint64_t tokens;
    std::uint32_t last_document, documents;
};

// Sums of one part of the documents, class after class: tokens_cw, presence_cw (CS1).
class PartSums {
  public:
    PartSums(const Scan& scan, const std::vector<std::string>& stop_words) : reader(scan, stop_words) {}

    // Sum rows [begin, end) of the documents; y[row] is the class.
    void add(const Texts& texts, const std::int64_t* y, std::size_t n_classes, std::size_t begin, std::size_t end) {
        std::vector<std::size_t> start(n_classes + 1), rows(end - begin);
        for (std::size_t row = begin; row < end; ++row) ++start[y[row] + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<std::size_t> at(start.begin(), start.end() - 1);
        for (std::size_t row = begin; row < end; ++row) rows[at[y[row]]++] = row;
        for (std::size_t c = 0; c < n_classes; ++c) {
            first.push_back(sums.size());
            for (std::size_t k = start[c]; k < start[c + 1]; ++k) {
                if (k + 1 < rows.size()) texts.fetch(rows[k + 1]);
                document(texts[rows[k]], first.back());
            }
        }
        first.push_back(sums.size());
    }

    TermReader reader;
    std::vector<ClassSum> sums;
    std::vector<std::uint32_t> terms; // of each sum
    std::vector<std::size_t> first;   // of each class, and the end

  private:
    void document(const Text& t, std::size_t class_start) {
        ++document_;
        reader.read(t, [this, class_start](Place* const* places, std::size_t n) {
            std::uint32_t at[look_ahead];
            for (std::size_t k = 0; k < n; ++k) {
                // A mark above the start of the class was set in this class.
                if (places[k]->mark <= class_start) new_sum(*places[k]);
                // Ask for the sum now and add to it later, when it is in the cache.
                at[k] = places[k]->mark - 1;
                prefetch(&sums[at[k]]);
            }
            const std::uint32_t document = document_;
            ClassSum* all = sums.data();
            for (std::size_t k = 0; k < n; ++k) {
                ClassSum& sum = all[at[k]];
                ++sum.tokens;
                sum.documents += sum.last_document != document;
                sum.last_document = document;
            }
        });
        if (sums.size() > 0xF0000000) throw std::length_error("more than 2^32 class sums in one part");
    }

    void new_sum(Place& place) {
        sums.push_back({0, 0, 0});
        terms.push_back(place.id);
        place.mark = sums.size();
    }

    std::uint32_t document_ = 0; // counts from 1
};

// Class x term sums over sorted terms.
class ClassSums {
  public:
    ClassSums(const Texts& texts, const std::int64_t* y, std::size_t n_classes, const Scan& scan,
              const std::vector<std::string>& stop_words, std::size_t n_threads)
        : terms_(scan) {
        n_threads = usable_threads(n_threads);
        const std::vector<std::size_t> bounds = texts.parts(n_threads);
        std::vector<std::unique_ptr<PartSums>> parts(n_threads);
        std::vector<Symbols> symbols(n_threads);
        run_parts(n_threads, [&](std::size_t part) {
            parts[part] = std::make_unique<PartSums>(scan, stop_words);
            parts[part]->add(texts, y, n_classes, bounds[part], bounds[part + 1]);
            symbols[part] = std::move(parts[part]->reader.symbols);
        });
        terms_.merge(symbols);
        order_ = terms_.order();
        add_up(parts, n_classes);
    }

    std::size_t n_terms() const { return order_.size(); }
    void spell(std::size_t column, std::string& out) const { terms_.spell(order_[column], out); }

    // Compressed rows, one a class; tokens and documents share the structure.
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<std::int64_t> tokens, documents;

  private:
    void add_up(const std::vector<std::unique_ptr<PartSums>>& parts, std::size_t n_classes) {
        std::vector<std::uint32_t> column(n_terms());
        for (std::uint32_t k = 0; k < n_terms(); ++k) column[order_[k]] = k;
        std::vector<std::int64_t> all_tokens(n_terms()), all_documents(n_terms());
        BitSorter sorter(n_terms());
        indptr.push_back(0);
        for (std::size_t c = 0; c < n_classes; ++c) {
            for (std::size_t part = 0; part < parts.size(); ++part)
                for (std::size_t k = parts[part]->first[c]; k < parts[part]->first[c + 1]; ++k) {
                    const ClassSum& sum = parts[part]->sums[k];
                    const std::uint32_t at = column[terms_.number(part, parts[part]->terms[k])];
                    all_tokens[at] += sum.tokens;
                    all_documents[at] += sum.documents;
                    sorter.add(at, 0);
                }
            sorter.drain([&](std::uint32_t at, std::uint32_t) {
                indices.push_back(at);
                tokens.push_back(all_tokens[at]);
                documents.push_back(all_documents[at]);
                all_tokens[at] = all_documents[at] = 0;
            });
            indptr.push_back(indices.size());
        }
    }

    Terms terms_;
    std::vector<std::uint32_t> order_; // term number of each column
};

// ---- linear scores ------------------------------------------------------------

enum class Tf : std::uint8_t { raw, binary, sublinear, logarithm };
enum class Norm : std::uint8_t { none, l2, l1 };

// score_dk = sum_w x_dw W_wk / |x_d| + b_k, with x_dw = tf(count) idf_w.
template <typename Weight> struct Linear {
    Tf tf;
    Norm norm;
    double unknown;        // what an unknown term adds to the square of the length
    const double* idf;     // or nullptr
    const Weight* weights; // (n_columns, n_outputs), row after row
    const double* bias;    // (n_outputs,)
    std::size_t n_outputs;
};

EARMARK_WIDEST static void add_rows(const double* weights, std::size_t n_outputs, const std::uint32_t* columns,
                                    std::size_t n, double* out) {
    add_blocks<false>(weights, n_outputs, columns, static_cast<const double*>(nullptr), n, out);
}

EARMARK_WIDEST static void add_rows(const float* weights, std::size_t n_outputs, const std::uint32_t* columns,
                                    std::size_t n, double* out) {
    add_blocks<false>(weights, n_outputs, columns, static_cast<const double*>(nullptr), n, out);
}

EARMARK_WIDEST static void add_scaled_rows(const double* weights, std::size_t n_outputs, const std::uint32_t* columns,
                                           const double* x, std::size_t n, double* out) {
    add_blocks<true>(weights, n_outputs, columns, x, n, out);
}

EARMARK_WIDEST static void add_scaled_rows(const float* weights, std::size_t n_outputs, const std::uint32_t* columns,
                                           const double* x, std::size_t n, double* out) {
    add_blocks<true>(weights, n_outputs, columns, x, n, out);
}

// Scores documents one by one; a document's sum runs over its distinct terms in
// the order of their first occurrence, so that it does not depend on the threads.
template <typename Weight> class Scorer {
  public:
    Scorer(const Vocabulary& vocabulary, const Linear<Weight>& linear, bool several)
        : reader_(vocabulary, several), counter_(vocabulary.n_columns()), linear_(linear) {
        for (std::uint32_t count = 0; count < n_values; ++count) values_[count] = tf_of(count);
    }

    // -> number of tokens that are in the vocabulary
    std::int64_t score(const Text& t, double* out) {
        for (std::size_t k = 0; k < linear_.n_outputs; ++k) out[k] = 0.0;
        return counts_only() ? score_tokens(t, out) : score_terms(t, out);
    }

  private:
    static constexpr std::uint32_t n_values = 64;

    // x_dw is the count itself: the sum may run over tokens, and none need be counted.
    bool counts_only() const { return linear_.tf == Tf::raw && linear_.norm == Norm::none && !linear_.idf; }

    std::int64_t score_tokens(const Text& t, double* out) {
        std::int64_t n_tokens = 0;
        reader_.read(t, [&](const std::uint32_t* columns, std::size_t n) {
            n_tokens += n;
            for (std::size_t k = 0; k < n; ++k) ask_for(columns[k]);
            add_rows(linear_.weights, linear_.n_outputs, columns, n, out);
        });
        finish(0.0, out);
        return n_tokens;
    }

    std::int64_t score_terms(const Text& t, double* out) {
        reader_.read(t, [this](const std::uint32_t* columns, std::size_t n) { counter_.add(columns, n); });
        std::size_t n;
        const Entry* entries = counter_.take(n);
        std::int64_t n_tokens = 0;
        double size = 0.0;
        std::uint32_t columns[look_ahead];
        double x[look_ahead];
        for (std::size_t begin = 0; begin < n; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n - begin);
            for (std::size_t k = 0; k < m; ++k) {
                const auto [column, count] = entries[begin + k];
                ask_for(column);
                n_tokens += count;
                columns[k] = column;
                x[k] = value(column, count);
                size += linear_.norm == Norm::l2 ? x[k] * x[k] : std::fabs(x[k]);
            }
            add_scaled_rows(linear_.weights, linear_.n_outputs, columns, x, m, out);
        }
        size += linear_.unknown * double(reader_.n_terms() - n_tokens);
        finish(size, out);
        return n_tokens;
    }

    double tf_of(std::uint32_t count) const {
        const double x = count;
        if (linear_.tf == Tf::binary) return 1.0;
        if (linear_.tf == Tf::sublinear) return 1.0 + std::log(x);
        if (linear_.tf == Tf::logarithm) return 1.0 + std::log10(x);
        return x;
    }

    double value(std::uint32_t column, std::uint32_t count) const {
        const double x = count < n_values ? values_[count] : tf_of(count);
        return linear_.idf ? x * linear_.idf[column] : x;
    }

    // All cache lines of a row of weights, up to a few.
    void ask_for(std::uint32_t column) const {
        const Weight* row = linear_.weights + std::size_t(column) * linear_.n_outputs;
        prefetch(row);
        constexpr std::size_t line = 64 / sizeof(Weight);
        for (std::size_t k = line; k < linear_.n_outputs && k < 8 * line; k += line) prefetch(row + k);
    }

    void finish(double size, double* out) const {
        double length = linear_.norm == Norm::none ? 1.0 : linear_.norm == Norm::l2 ? std::sqrt(size) : size;
        if (length == 0.0) length = 1.0;
        for (std::size_t k = 0; k < linear_.n_outputs; ++k) out[k] = out[k] / length + linear_.bias[k];
    }

    ColumnReader reader_;
    ColumnCounter counter_;
    Linear<Weight> linear_;
    double values_[n_values]; // tf of small counts
};

template <typename Weight>
void score_texts(const Texts& texts, const Vocabulary& vocabulary, const Linear<Weight>& linear, double* scores,
                 std::int64_t* n_tokens, std::size_t n_threads) {
    n_threads = usable_threads(n_threads);
    const std::vector<std::size_t> bounds = texts.parts(n_threads);
    run_parts(n_threads, [&](std::size_t part) {
        Scorer<Weight> scorer(vocabulary, linear, texts.size() > 1);
        for (std::size_t row = bounds[part]; row < bounds[part + 1]; ++row) {
            texts.fetch(row + 1);
            n_tokens[row] = scorer.score(texts[row], scores + row * linear.n_outputs);
        }
    });
}

} // namespace text
