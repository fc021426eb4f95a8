// A fixed vocabulary: documents -> columns, with the table shared by all threads.
#pragma once

#include "text_count.hpp"

#include <optional>

namespace text {

class Vocabulary {
  public:
    // Term k of `terms` (UTF-8) is column k.
    Vocabulary(const std::vector<std::string>& terms, const Scan& scan, const std::vector<std::string>& stop_words)
        : scan_(scan), symbols_(scan.joins_words() ? scan.max_n : 1, stop_words), n_columns_(terms.size()) {
        has_pairs() ? add_ngrams(terms) : add_strings(terms);
    }

    std::size_t n_columns() const { return n_columns_; }
    const Scan& scan() const { return scan_; }
    const StringTable& words() const { return symbols_.words(); }
    const PairTable& pairs(std::uint32_t n) const { return symbols_.pairs(n); }
    bool has_pairs() const { return symbols_.has_pairs(); }
    bool has_stop_words() const { return symbols_.n_stop() > 0; }

  private:
    // The mark of a slot is its column + 1, or 0 for a mere beginning of an n-gram.
    void add_strings(const std::vector<std::string>& terms) {
        symbols_.expect_words(terms.size());
        std::string line; // of some terms at a time, so that their slots are asked for together
        std::size_t starts[look_ahead];
        for (std::size_t begin = 0; begin < terms.size(); begin += look_ahead) {
            const std::size_t n = std::min(look_ahead, terms.size() - begin);
            line.clear();
            for (std::size_t k = 0; k < n; ++k) {
                starts[k] = line.size();
                line.append(terms[begin + k]);
            }
            line.append(over_read, '\0');
            for (std::size_t k = 0; k < n; ++k)
                symbols_.words().prefetch_slot(line.data() + starts[k], terms[begin + k].size());
            for (std::size_t k = 0; k < n; ++k) {
                if (terms[begin + k].empty()) continue;
                Place& place = symbols_.word(line.data() + starts[k], terms[begin + k].size());
                if (place.id != none) place.mark = begin + k + 1; // none: a stop word
            }
        }
    }

    void add_ngrams(const std::vector<std::string>& terms) {
        std::vector<Span> words;
        for (std::uint32_t column = 0; column < terms.size(); ++column) {
            split(terms[column], words);
            if (words.size() < scan_.min_n || words.size() > scan_.max_n) continue; // no document can have it
            symbols_.expect_words(words.size());
            add_ngram(terms[column], words, column);
        }
    }

    void add_ngram(const std::string& term, const std::vector<Span>& words, std::uint32_t column) {
        std::string padded = term;
        padded.append(over_read, '\0');
        std::uint32_t gram = none;
        for (std::uint32_t k = 0; k < words.size(); ++k) {
            if (words[k].length() == 0) return;
            Place& word = symbols_.word(padded.data() + words[k].start, words[k].length());
            if (word.id == none) return; // a stop word
            if (k == 0) {
                if (words.size() == 1) word.mark = column + 1;
                gram = word.id;
                continue;
            }
            symbols_.expect_pairs(k + 1, 1);
            Place& place = symbols_.pair(k + 1, PairTable::key(gram, word.id));
            if (k + 1 == words.size()) place.mark = column + 1;
            gram = place.id;
        }
    }

    static void split(const std::string& term, std::vector<Span>& words) {
        words.clear();
        std::uint32_t start = 0;
        for (std::uint32_t k = 0; k <= term.size(); ++k) {
            if (k < term.size() && term[k] != ' ') continue;
            words.push_back({start, k});
            start = k + 1;
        }
    }

    Scan scan_;
    Symbols symbols_;
    std::size_t n_columns_;
};

// Reads documents against a vocabulary: use(columns, n), some terms at a time, for
// the terms that have a column.
class ColumnReader {
  public:
    // Of several documents, what words are made of is looked up once.
    ColumnReader(const Vocabulary& vocabulary, bool several)
        : vocabulary_(vocabulary), scan_(vocabulary.scan()), scanner_(vocabulary.scan()),
          counts_words_(!scan_.joins_words() || scan_.min_n <= 1) {
        if (several && scan_.analyzer == Analyzer::chars_in_words) chunks_.emplace();
    }

    template <typename Use> void read(const Text& t, Use use) {
        words_.clear();
        n_terms_ = 0;
        if (chunks_) return pieces(t, use);
        scanner_.run(t, [&](const char* bytes, const Span* spans, std::size_t n) { strings(bytes, spans, n, use); });
        if (!vocabulary_.has_pairs()) return;
        grams_ = words_;
        for (std::uint32_t n = 2; n <= scan_.max_n && n <= words_.size(); ++n) pairs(n, use);
    }

    // Terms of the document that was read last, known or not.
    std::size_t n_terms() const { return n_terms_; }

  private:
    // Pieces of words, chunk by chunk.
    template <typename Use> void pieces(const Text& t, Use& use) {
        auto look_up = [&](const char* bytes, Span chunk, std::vector<std::uint32_t>& columns) {
            const std::size_t before = n_terms_;
            auto add = [&](const std::uint32_t* known, std::size_t n) {
                columns.insert(columns.end(), known, known + n);
            };
            auto find = [&](const char* own, const Span* grams, std::size_t n) { strings(own, grams, n, add); };
            piece_scan_.each(bytes, chunk, scan_, find);
            const std::size_t n_pieces = n_terms_ - before;
            n_terms_ = before;
            return n_pieces;
        };
        scanner_.run_chunks(t, [&](const char* bytes, const Span* spans, std::size_t n) {
            chunks_->each(
                bytes, spans, n,
                [&](Span chunk, std::vector<std::uint32_t>& columns) { return look_up(bytes, chunk, columns); },
                [&](const std::uint32_t* columns, std::size_t n_known, std::size_t n_pieces) {
                    n_terms_ += n_pieces;
                    for (std::size_t k = 0; k < n_known; k += look_ahead)
                        use(columns + k, std::min(look_ahead, n_known - k));
                });
        });
    }

    template <typename Use> void strings(const char* bytes, const Span* spans, std::size_t n, Use& use) {
        const StringTable& table = vocabulary_.words();
        const Place* places[look_ahead];
        for (std::size_t begin = 0; begin < n; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n - begin);
            scan_.analyzer == Analyzer::word ? table.locate<false>(bytes, spans + begin, m, places)
                                             : table.locate<true>(bytes, spans + begin, m, places);
            std::size_t n_known = 0;
            for (std::size_t k = 0; k < m; ++k) {
                columns_[n_known] = places[k]->mark - 1;
                n_known += columns_[n_known] != none;
            }
            std::size_t n_counted = m;
            if (vocabulary_.has_stop_words())
                for (std::size_t k = 0; k < m; ++k) n_counted -= places[k] != &absent && places[k]->id == none;
            if (counts_words_) n_terms_ += n_counted;
            if (vocabulary_.has_pairs())
                for (std::size_t k = 0; k < m; ++k)
                    if (places[k] == &absent || places[k]->id != none) words_.push_back(places[k]->id);
            use(columns_, n_known);
        }
    }

    template <typename Use> void pairs(std::uint32_t n, Use& use) {
        const PairTable& table = vocabulary_.pairs(n);
        const std::size_t n_grams = words_.size() - n + 1;
        if (n >= scan_.min_n) n_terms_ += n_grams;
        std::uint64_t keys[look_ahead];
        for (std::size_t begin = 0; begin < n_grams; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n_grams - begin);
            for (std::size_t k = 0; k < m; ++k) {
                const std::uint32_t prefix = grams_[begin + k], word = words_[begin + k + n - 1];
                keys[k] = prefix == none || word == none ? 0 : PairTable::key(prefix, word);
                if (keys[k]) table.prefetch_slot(keys[k]);
            }
            std::size_t n_known = 0;
            for (std::size_t k = 0; k < m; ++k) {
                const PairSlot* slot = keys[k] ? table.find(keys[k]) : nullptr;
                const Place& place = slot ? slot->place : absent;
                columns_[n_known] = place.mark - 1;
                n_known += columns_[n_known] != none;
                grams_[begin + k] = place.id;
            }
            use(columns_, n_known);
        }
    }

    const Vocabulary& vocabulary_;
    Scan scan_;
    Scanner scanner_;
    bool counts_words_;
    Pieces piece_scan_;
    std::optional<ChunkLists> chunks_; // columns of the pieces of a chunk
    std::size_t n_terms_ = 0;
    std::vector<std::uint32_t> words_, grams_; // symbols at each place; none: not in the vocabulary
    std::uint32_t columns_[look_ahead + 1];
};

// Counts columns of one document.
class ColumnCounter {
  public:
    explicit ColumnCounter(std::size_t n_columns) : counts_(n_columns), entries_(look_ahead) {}

    // Whether a column is new is a coin toss: no branch on it.
    void add(const std::uint32_t* columns, std::size_t n) {
        if (entries_.size() < size_ + n + 1) entries_.resize(2 * (size_ + n));
        for (std::size_t k = 0; k < n; ++k) prefetch(&counts_[columns[k]]);
        for (std::size_t k = 0; k < n; ++k) {
            entries_[size_].id = columns[k];
            size_ += counts_[columns[k]]++ == 0;
        }
    }

    // The distinct columns by first occurrence, which are then forgotten.
    const Entry* take(std::size_t& n) {
        n = size_;
        size_ = 0;
        for (std::size_t k = 0; k < n; ++k) {
            entries_[k].count = counts_[entries_[k].id];
            counts_[entries_[k].id] = 0;
        }
        return entries_.data();
    }

  private:
    ZeroArray<std::uint32_t> counts_;
    std::vector<Entry> entries_; // the first size_ count
    std::size_t size_ = 0;
};

// Rows of (column, count), kept in parts until they are copied to arrays.
class RowMatrix {
  public:
    RowMatrix(const RowMatrix&) = delete;
    RowMatrix& operator=(const RowMatrix&) = delete;

    std::uint64_t n_entries() const {
        std::uint64_t total = 0;
        for (const Rows& rows : rows_) total += rows.total();
        return total;
    }

    std::size_t n_rows() const {
        std::size_t n = 0;
        for (const Rows& rows : rows_) n += rows.size();
        return n;
    }

    // Once only: frees the rows.
    template <typename Index> void fill(Index* indptr, Index* indices, std::int64_t* data) {
        require(!is_spent_, "the rows were given back by the first fill.");
        is_spent_ = true;
        std::uint64_t at = 0;
        *indptr++ = 0;
        for (Rows& rows : rows_)
            rows.each(true, [&](std::size_t, const Entry* entries, std::size_t n) {
                for (std::size_t k = 0; k < n; ++k, ++at) {
                    indices[at] = entries[k].id;
                    data[at] = static_cast<std::int32_t>(entries[k].count);
                }
                *indptr++ = at;
            });
    }

  protected:
    explicit RowMatrix(std::size_t n_threads) : rows_(usable_threads(n_threads)) {}

    std::vector<Rows> rows_; // of each part
    bool is_spent_ = false;
};

// Counts of the columns of a vocabulary: rows sorted by column.
class ColumnCounts : public RowMatrix {
  public:
    // Terms of each document, known or not.
    std::vector<std::int64_t> totals;

    ColumnCounts(const Texts& texts, const Vocabulary& vocabulary, std::size_t n_threads)
        : RowMatrix(n_threads), totals(texts.size()) {
        const std::vector<std::size_t> bounds = texts.parts(rows_.size());
        run_parts(rows_.size(), [&](std::size_t part) {
            ColumnReader reader(vocabulary, texts.size() > 1);
            ColumnCounter counter(vocabulary.n_columns());
            RowSorter sorter(vocabulary.n_columns());
            for (std::size_t k = bounds[part]; k < bounds[part + 1]; ++k) {
                texts.fetch(k + 1);
                reader.read(texts[k], [&](const std::uint32_t* columns, std::size_t n) { counter.add(columns, n); });
                totals[k] = reader.n_terms();
                std::size_t n;
                const Entry* entries = counter.take(n);
                rows_[part].add(sorter.sort(entries, n), n);
            }
        });
    }
};

} // namespace text
