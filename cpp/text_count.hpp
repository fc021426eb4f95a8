// Counting: documents -> rows of (term, count) -> compressed sparse rows.
//
// Each thread counts a contiguous part of the documents with a table of its
// own. The tables are merged in the order of the parts, so that a term's number
// is the rank of its first occurrence, however many threads worked.
#pragma once

#include "parallel.hpp"
#include "text_symbols.hpp"

#include <memory>

namespace text {

constexpr std::size_t look_ahead = 32; // terms hashed and prefetched at a time

struct Entry {
    std::uint32_t id, count;
};

// Looks up every term of a document in a growing table; calls use(mark, id) for
// each term that counts, `mark` being four bytes of the term's own slot.
class TermReader {
  public:
    TermReader(const Scan& scan, const std::vector<std::string>& stop_words)
        : symbols(scan.analyzer == Analyzer::word ? scan.max_n : 1, stop_words), scan_(scan), scanner_(scan) {}

    template <typename Use> void read(const Text& t, Use use) {
        const bool counts_words = scan_.analyzer != Analyzer::word || scan_.min_n <= 1;
        words_.clear();
        scanner_.run(t, [&](const char* bytes, const Span* spans, std::size_t n) {
            counts_words ? strings<true>(bytes, spans, n, use) : strings<false>(bytes, spans, n, use);
        });
        if (!symbols.has_pairs()) return;
        grams_ = words_;
        for (std::uint32_t n = 2; n <= scan_.max_n && n <= words_.size(); ++n) pairs(n, use);
    }

    Symbols symbols;

  private:
    template <bool counts, typename Use> void strings(const char* bytes, const Span* spans, std::size_t n, Use& use) {
        Key keys[look_ahead];
        for (std::size_t begin = 0; begin < n; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n - begin);
            for (std::size_t k = 0; k < m; ++k) {
                keys[k] = Key::of(bytes + spans[begin + k].start, spans[begin + k].length);
                symbols.words().prefetch_slot(keys[k]);
            }
            for (std::size_t k = 0; k < m; ++k) {
                Slot& slot = symbols.word(keys[k]);
                if (slot.id == none) continue; // a stop word
                if (counts) use(slot.mark, slot.id);
                if (symbols.has_pairs()) words_.push_back(slot.id);
            }
        }
    }

    template <typename Use> void pairs(std::uint32_t n, Use& use) {
        const std::size_t n_grams = words_.size() - n + 1;
        const bool counts = n >= scan_.min_n;
        std::uint64_t keys[look_ahead];
        for (std::size_t begin = 0; begin < n_grams; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n_grams - begin);
            for (std::size_t k = 0; k < m; ++k) {
                keys[k] = PairTable::key(grams_[begin + k], words_[begin + k + n - 1]);
                symbols.pairs(n).prefetch_slot(keys[k]);
            }
            for (std::size_t k = 0; k < m; ++k) {
                PairSlot& slot = symbols.pair(n, keys[k]);
                if (counts) use(slot.mark, slot.id);
                grams_[begin + k] = slot.id;
            }
        }
    }

    Scan scan_;
    Scanner scanner_;
    std::vector<std::uint32_t> words_, grams_; // symbols at each place of the document
};

// Rows of entries in blocks that can be given back one by one.
class Rows {
  public:
    void add(const std::vector<Entry>& row) {
        if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < row.size()) {
            blocks_.emplace_back();
            blocks_.back().reserve(std::max(block_size, row.size()));
            first_row_.push_back(lengths_.size());
        }
        blocks_.back().insert(blocks_.back().end(), row.begin(), row.end());
        lengths_.push_back(row.size());
        total_ += row.size();
    }

    std::size_t size() const { return lengths_.size(); }
    std::uint64_t total() const { return total_; }
    const std::vector<std::uint32_t>& lengths() const { return lengths_; }

    // use(row number, entries, number of entries); `last` gives the memory back on the way.
    template <typename Use> void each(bool last, Use use) {
        for (std::size_t block = 0; block < blocks_.size(); ++block) {
            const std::size_t end = block + 1 < blocks_.size() ? first_row_[block + 1] : lengths_.size();
            const Entry* entries = blocks_[block].data();
            for (std::size_t row = first_row_[block]; row < end; ++row) {
                use(row, entries, lengths_[row]);
                entries += lengths_[row];
            }
            if (last) std::vector<Entry>().swap(blocks_[block]);
        }
    }

  private:
    static constexpr std::size_t block_size = std::size_t(1) << 19;
    std::vector<std::vector<Entry>> blocks_;
    std::vector<std::size_t> first_row_; // of each block
    std::vector<std::uint32_t> lengths_;
    std::uint64_t total_ = 0;
};

// Counts one part of the documents.
class PartCounter {
  public:
    PartCounter(const Scan& scan, const std::vector<std::string>& stop_words) : reader(scan, stop_words) {}

    void document(const Text& t) {
        if (base_ > 0x7FFFFFFF) { // before the marks run over
            reader.symbols.clear_marks();
            base_ = 0;
        }
        row_.clear();
        reader.read(t, [this](std::uint32_t& mark, std::uint32_t id) {
            // A mark above `base_` was set in this document and says where its entry is.
            if (mark > base_) {
                ++row_[mark - base_ - 1].count;
            } else {
                row_.push_back({id, 1});
                mark = base_ + std::uint32_t(row_.size());
            }
        });
        rows.add(row_);
        base_ += row_.size();
    }

    TermReader reader;
    Rows rows;

  private:
    std::vector<Entry> row_;
    std::uint32_t base_ = 0;
};

// Sorts short lists of small distinct numbers by setting bits.
class BitSorter {
  public:
    explicit BitSorter(std::size_t n) : bits_(n / 64 + 1), summary_(n / 4096 + 1), counts_(n) {}

    void add(std::uint32_t id, std::uint32_t count) {
        bits_[id >> 6] |= std::uint64_t(1) << (id & 63);
        summary_[id >> 12] |= std::uint64_t(1) << ((id >> 6) & 63);
        counts_[id] = count;
    }

    // use(id, count) in ascending order; forgets all on the way.
    template <typename Use> void drain(Use use) {
        for (std::size_t s = 0; s < summary_.size(); ++s) {
            for (std::uint64_t words = summary_[s]; words; words &= words - 1) {
                const std::size_t word = s * 64 + lowest_bit(words);
                for (std::uint64_t bits = bits_[word]; bits; bits &= bits - 1) {
                    const std::uint32_t id = word * 64 + lowest_bit(bits);
                    use(id, counts_[id]);
                }
                bits_[word] = 0;
            }
            summary_[s] = 0;
        }
    }

    // Walking the summary costs this many steps even for an empty list.
    std::size_t cost() const { return summary_.size(); }

  private:
    std::vector<std::uint64_t> bits_, summary_;
    std::vector<std::uint32_t> counts_;
};

// Calls use(id, count) for the entries of a row, by ascending id[entry].
template <typename Use>
void sorted_row(const Entry* entries, std::size_t n, const std::vector<std::uint32_t>& id, BitSorter& sorter,
                std::vector<Entry>& buffer, Use use) {
    auto number = [&](std::uint32_t local) { return id.empty() ? local : id[local]; };
    if (n * 4 >= sorter.cost()) {
        for (std::size_t k = 0; k < n; ++k) sorter.add(number(entries[k].id), entries[k].count);
        sorter.drain(use);
        return;
    }
    buffer.clear();
    for (std::size_t k = 0; k < n; ++k) buffer.push_back({number(entries[k].id), entries[k].count});
    std::sort(buffer.begin(), buffer.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
    for (const Entry& entry : buffer) use(entry.id, entry.count);
}

// The counts of a corpus: terms numbered by first occurrence, rows unsorted
// until the caller has said which terms to keep and in which column.
class Counted {
  public:
    Counted(const Texts& texts, const Scan& scan, const std::vector<std::string>& stop_words, std::size_t n_threads)
        : min_words_(scan.analyzer == Analyzer::word ? scan.min_n : 1) {
        const std::vector<std::size_t> bounds = texts.parts(n_threads);
        std::vector<std::unique_ptr<PartCounter>> parts(n_threads);
        run_parts(n_threads, [&](std::size_t part) {
            parts[part] = std::make_unique<PartCounter>(scan, stop_words);
            for (std::size_t row = bounds[part]; row < bounds[part + 1]; ++row) parts[part]->document(texts[row]);
        });
        merge(parts);
    }

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_terms() const { return terms_.size(); }
    std::uint64_t n_entries() const {
        std::uint64_t total = 0;
        for (const Rows& rows : rows_) total += rows.total();
        return total;
    }

    // Documents with the term and occurrences of the term, by term number.
    void frequencies(std::int64_t* documents, std::int64_t* occurrences) {
        for (std::size_t part = 0; part < rows_.size(); ++part) {
            const std::vector<std::uint32_t>& number = number_[part];
            rows_[part].each(false, [&](std::size_t, const Entry* entries, std::size_t n) {
                for (std::size_t k = 0; k < n; ++k) {
                    const std::uint32_t term = number.empty() ? entries[k].id : number[entries[k].id];
                    ++documents[term];
                    occurrences[term] += entries[k].count;
                }
            });
        }
    }

    // Term numbers in the order of the sorted terms.
    void order(std::uint32_t* out) const {
        const std::vector<std::uint32_t> sorted = symbols_.sorted(min_words_);
        for (std::size_t k = 0; k < sorted.size(); ++k) out[k] = term_of_symbol_.empty() ? sorted[k] : term_of_symbol_[sorted[k]];
    }

    void spell(std::size_t term, std::string& out) const { symbols_.spell(terms_[term], out); }

    // Write the rows: each by ascending term number, the term replaced by its
    // column, terms with a negative column left out. `last` frees the rows on the way.
    template <typename Index>
    void fill(const std::int32_t* column, Index* indptr, Index* indices, std::int64_t* data, bool last) {
        std::vector<std::uint64_t> first(rows_.size());
        for (std::size_t part = 1; part < rows_.size(); ++part) first[part] = first[part - 1] + rows_[part - 1].size();
        indptr[0] = 0;
        const bool all_kept = std::none_of(column, column + n_terms(), [](std::int32_t c) { return c < 0; });
        run_parts(rows_.size(), [&](std::size_t part) { row_lengths(part, all_kept, column, indptr + first[part] + 1); });
        for (std::size_t row = 0; row < n_rows_; ++row) indptr[row + 1] += indptr[row];
        run_parts(rows_.size(), [&](std::size_t part) {
            BitSorter sorter(n_terms());
            std::vector<Entry> buffer;
            std::uint64_t at = indptr[first[part]];
            rows_[part].each(last, [&](std::size_t, const Entry* entries, std::size_t n) {
                sorted_row(entries, n, number_[part], sorter, buffer, [&](std::uint32_t term, std::uint32_t count) {
                    if (column[term] < 0) return;
                    indices[at] = column[term];
                    data[at++] = count;
                });
            });
        });
    }

  private:
    void merge(std::vector<std::unique_ptr<PartCounter>>& parts) {
        number_.resize(parts.size());
        for (std::size_t part = 0; part < parts.size(); ++part) {
            Symbols& symbols = parts[part]->reader.symbols;
            if (part == 0)
                symbols_ = std::move(symbols);
            else
                number_[part] = symbols_.absorb(symbols);
            rows_.push_back(std::move(parts[part]->rows));
            n_rows_ += rows_.back().size();
            parts[part].reset();
        }
        symbols_.drop_slots();
        number_terms();
    }

    // Symbols that only serve as beginnings of n-grams are not terms.
    void number_terms() {
        for (std::uint32_t id = 0; id < symbols_.size(); ++id)
            if (symbols_.n_words(id) >= min_words_) terms_.push_back(id);
        if (terms_.size() == symbols_.size()) return;
        term_of_symbol_.assign(symbols_.size(), none);
        for (std::uint32_t term = 0; term < terms_.size(); ++term) term_of_symbol_[terms_[term]] = term;
        if (number_[0].empty()) {
            number_[0].resize(symbols_.size());
            std::iota(number_[0].begin(), number_[0].end(), 0);
        }
        for (auto& number : number_)
            for (std::uint32_t& id : number) id = term_of_symbol_[id];
    }

    template <typename Index> void row_lengths(std::size_t part, bool all_kept, const std::int32_t* column, Index* lengths) {
        const std::vector<std::uint32_t>& number = number_[part];
        if (all_kept) return std::copy(rows_[part].lengths().begin(), rows_[part].lengths().end(), lengths), void();
        rows_[part].each(false, [&](std::size_t row, const Entry* entries, std::size_t n) {
            Index kept = 0;
            for (std::size_t k = 0; k < n; ++k) kept += column[number.empty() ? entries[k].id : number[entries[k].id]] >= 0;
            lengths[row] = kept;
        });
    }

    std::uint32_t min_words_;
    std::size_t n_rows_ = 0;
    Symbols symbols_;
    std::vector<std::uint32_t> terms_;          // symbol of each term
    std::vector<std::uint32_t> term_of_symbol_; // empty: the same numbers
    std::vector<Rows> rows_;                    // of each part
    std::vector<std::vector<std::uint32_t>> number_; // of each part: local symbol -> term; empty: the same
};

} // namespace text
