// Counting: documents -> rows of (term, count) -> compressed sparse rows.
//
// Each thread counts a contiguous part of the documents with a table of its
// own. The tables are merged in the order of the parts, so that a term's number
// is the rank of its first occurrence, however many threads worked.
#pragma once

#include "parallel.hpp"
#include "text_terms.hpp"

namespace text {

struct Entry {
    std::uint32_t id, count;
};

// Rows of entries in blocks that can be given back one by one.
class Rows {
  public:
    Rows() = default;
    Rows(Rows&&) = default;
    Rows& operator=(Rows&&) = default;

    void add(const Entry* row, std::size_t n) {
        if (blocks_.empty() || blocks_.back().size() - used_ < n) {
            blocks_.emplace_back(std::max(block_size, n));
            first_row_.push_back(lengths_.size());
            used_ = 0;
        }
        std::copy(row, row + n, blocks_.back().begin() + used_);
        used_ += n;
        lengths_.push_back(n);
        total_ += n;
    }

    std::size_t size() const { return lengths_.size(); }
    std::uint64_t total() const { return total_; }
    const std::vector<std::uint32_t>& lengths() const { return lengths_; }

    // use(row number, entries, number of entries); `last` gives the memory back on the way.
    template <typename Use> void each(bool last, Use use) {
        for (std::size_t block = 0; block < blocks_.size(); ++block) {
            const std::size_t end = block + 1 < blocks_.size() ? first_row_[block + 1] : lengths_.size();
            const Entry* entries = blocks_[block].begin();
            for (std::size_t row = first_row_[block]; row < end; ++row) {
                use(row, entries, lengths_[row]);
                entries += lengths_[row];
            }
            if (last) blocks_[block] = ZeroArray<Entry>();
        }
    }

  private:
    static constexpr std::size_t block_size = std::size_t(1) << 19;
    std::vector<ZeroArray<Entry>> blocks_;
    std::size_t used_ = 0;               // entries of the last block
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
            reader.clear_marks();
            base_ = 0;
        }
        size_ = 0;
        reader.read(t, [this](Place* const* places, std::size_t n) {
            if (row_.size() < size_ + n + 1) row_.resize(2 * (size_ + n) + 64);
            Entry* row = row_.data();
            std::uint32_t size = size_;
            const std::uint32_t base = base_;
            for (std::size_t k = 0; k < n; ++k) {
                // A mark above `base` was set in this document and says where its entry
                // is. Whether it was is a coin toss: no branch on it.
                const Place place = *places[k];
                const bool is_new = place.mark <= base;
                row[size] = {place.id, 0};
                const std::uint32_t at = is_new ? size : place.mark - base - 1;
                ++row[at].count;
                places[k]->mark = base + at + 1;
                size += is_new;
            }
            size_ = size;
        });
        rows.add(row_.data(), size_);
        base_ += size_;
    }

    TermReader reader;
    Rows rows;

  private:
    std::vector<Entry> row_; // the first size_ count
    std::uint32_t size_ = 0, base_ = 0;
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

    // Add to the count instead of setting it.
    void increase(std::uint32_t id, std::uint32_t by) {
        bits_[id >> 6] |= std::uint64_t(1) << (id & 63);
        summary_[id >> 12] |= std::uint64_t(1) << ((id >> 6) & 63);
        counts_[id] += by;
    }

    // use(id, count) in ascending order; forgets all on the way.
    template <typename Use> void drain(Use use) {
        for (std::size_t s = 0; s < summary_.size(); ++s) {
            for (std::uint64_t words = summary_[s]; words; words &= words - 1) {
                const std::size_t word = s * 64 + lowest_bit(words);
                for (std::uint64_t bits = bits_[word]; bits; bits &= bits - 1) {
                    const std::uint32_t id = word * 64 + lowest_bit(bits);
                    use(id, counts_[id]);
                    counts_[id] = 0;
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
    ZeroArray<std::uint32_t> counts_;
};

// Sorts rows of distinct small numbers: a bit for each, then each entry goes where the bits
// before its own say. All of it fits in the first-level cache for usual vocabularies, and
// there is no branch on the data.
class RowSorter {
  public:
    explicit RowSorter(std::size_t n) : bits_(n / 64 + 1), first_(n / 64 + 1), summary_(n / 4096 + 1) {}

    // The entries by ascending id; valid until the next call.
    const Entry* sort(const Entry* entries, std::size_t n) {
        if (sorted_.size() < n) sorted_.resize(2 * n);
        if (n * 4 >= summary_.size()) {
            spread(entries, n, {bits_.data(), first_.data(), summary_.data(), summary_.size()}, sorted_.data());
        } else {
            std::copy(entries, entries + n, sorted_.begin());
            std::sort(sorted_.begin(), sorted_.begin() + n, [](const Entry& a, const Entry& b) { return a.id < b.id; });
        }
        return sorted_.data();
    }

  private:
    struct Bits {
        std::uint64_t* words;
        std::uint32_t* first; // how many bits are set before each word
        std::uint64_t* summary;
        std::size_t n_summary;
    };

    EARMARK_WIDEST static void spread(const Entry* entries, std::size_t n, Bits bits, Entry* out) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t id = entries[k].id;
            bits.words[id >> 6] |= std::uint64_t(1) << (id & 63);
            bits.summary[id >> 12] |= std::uint64_t(1) << ((id >> 6) & 63);
        }
        std::uint32_t before = 0;
        for (std::size_t s = 0; s < bits.n_summary; ++s) {
            for (std::uint64_t words = bits.summary[s]; words; words &= words - 1) {
                const std::size_t word = s * 64 + lowest_bit(words);
                bits.first[word] = before;
                before += count_bits(bits.words[word]);
            }
            bits.summary[s] = 0;
        }
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t id = entries[k].id;
            const std::uint64_t below = (std::uint64_t(1) << (id & 63)) - 1;
            out[bits.first[id >> 6] + count_bits(bits.words[id >> 6] & below)] = entries[k];
        }
        for (std::size_t k = 0; k < n; ++k) bits.words[entries[k].id >> 6] = 0;
    }

    std::vector<std::uint64_t> bits_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint64_t> summary_;
    std::vector<Entry> sorted_;
};

// The counts of a corpus: terms numbered by first occurrence, rows unsorted
// until the caller has said which terms to keep and in which column.
class Counted {
  public:
    Counted(const Texts& texts, const Scan& scan, const std::vector<std::string>& stop_words, std::size_t n_threads)
        : terms_(scan), rows_(usable_threads(n_threads)) {
        const std::vector<std::size_t> bounds = texts.parts(rows_.size());
        std::vector<Symbols> symbols(rows_.size());
        run_parts(rows_.size(), [&](std::size_t part) {
            PartCounter counter(scan, stop_words);
            for (std::size_t row = bounds[part]; row < bounds[part + 1]; ++row) {
                texts.fetch(row + 1);
                counter.document(texts[row]);
            }
            symbols[part] = std::move(counter.reader.symbols);
            rows_[part] = std::move(counter.rows);
        });
        terms_.merge(symbols);
        n_rows_ = texts.size();
    }

    std::size_t n_rows() const { return n_rows_; }
    const Terms& terms() const { return terms_; }
    std::uint64_t n_entries() const {
        std::uint64_t total = 0;
        for (const Rows& rows : rows_) total += rows.total();
        return total;
    }

    // Documents with the term and occurrences of the term, by term number.
    void frequencies(std::int64_t* documents, std::int64_t* occurrences) {
        require_rows();
        for (std::size_t part = 0; part < rows_.size(); ++part)
            rows_[part].each(false, [&](std::size_t, const Entry* entries, std::size_t n) {
                for (std::size_t k = 0; k < n; ++k) {
                    const std::uint32_t term = terms_.number(part, entries[k].id);
                    ++documents[term];
                    occurrences[term] += entries[k].count;
                }
            });
    }

    // Terms of each document.
    void totals(std::int64_t* totals) {
        require_rows();
        for (Rows& rows : rows_)
            rows.each(false, [&](std::size_t, const Entry* entries, std::size_t n) {
                std::int64_t sum = 0;
                for (std::size_t k = 0; k < n; ++k) sum += entries[k].count;
                *totals++ = sum;
            });
    }

    // Write the rows: each by ascending term number, the term replaced by its
    // column, terms with a negative column left out. `last` frees the rows on the way.
    template <typename Index>
    void fill(const std::int32_t* column, Index* indptr, Index* indices, std::int64_t* data, std::size_t room,
              bool last) {
        require_rows();
        is_spent_ = last;
        std::vector<std::uint64_t> first(rows_.size());
        for (std::size_t part = 1; part < rows_.size(); ++part) first[part] = first[part - 1] + rows_[part - 1].size();
        indptr[0] = 0;
        const bool all_kept = std::none_of(column, column + terms_.size(), [](std::int32_t c) { return c < 0; });
        run_parts(rows_.size(),
                  [&](std::size_t part) { row_lengths(part, all_kept, column, indptr + first[part] + 1); });
        for (std::size_t row = 0; row < n_rows_; ++row) indptr[row + 1] += indptr[row];
        require(std::size_t(indptr[n_rows_]) <= room, "indices, data: expected room for every entry.");
        run_parts(rows_.size(), [&](std::size_t part) {
            RowSorter sorter(terms_.size());
            std::vector<Entry> row;
            std::uint64_t at = indptr[first[part]];
            rows_[part].each(last, [&](std::size_t, const Entry* entries, std::size_t n) {
                const Entry* sorted = sorter.sort(numbered(part, entries, n, row), n);
                for (std::size_t k = 0; k < n; ++k) {
                    const std::int32_t place = column[sorted[k].id];
                    if (!all_kept && place < 0) continue;
                    indices[at] = place;
                    data[at++] = sorted[k].count;
                }
            });
        });
    }

  private:
    // The entries of a part's row with the numbers of the corpus.
    const Entry* numbered(std::size_t part, const Entry* entries, std::size_t n, std::vector<Entry>& row) const {
        const std::vector<std::uint32_t>& numbers = terms_.numbers(part);
        if (numbers.empty()) return entries;
        row.assign(entries, entries + n);
        for (Entry& entry : row) entry.id = numbers[entry.id];
        return row.data();
    }

    template <typename Index>
    void row_lengths(std::size_t part, bool all_kept, const std::int32_t* column, Index* lengths) {
        if (all_kept) {
            std::copy(rows_[part].lengths().begin(), rows_[part].lengths().end(), lengths);
            return;
        }
        rows_[part].each(false, [&](std::size_t row, const Entry* entries, std::size_t n) {
            Index kept = 0;
            for (std::size_t k = 0; k < n; ++k) kept += column[terms_.number(part, entries[k].id)] >= 0;
            lengths[row] = kept;
        });
    }

    void require_rows() const { require(!is_spent_, "the rows were given back by the last fill."); }

    std::size_t n_rows_ = 0;
    Terms terms_;
    std::vector<Rows> rows_; // of each part
    bool is_spent_ = false;
};

} // namespace text
