// Hashed columns: documents -> signed counts in a fixed number of columns.
//
// The hash is MurmurHash3 (32 bits, seed 0) of the term in UTF-8, and its sign
// may decide the sign of the count, as scikit-learn's HashingVectorizer has it.
#pragma once

#include "text_vocabulary.hpp"

namespace text {

// MurmurHash3_x86_32 by Austin Appleby (public domain algorithm).
inline std::int32_t murmur3(const char* bytes, std::size_t n) {
    auto rotate = [](std::uint32_t x, int by) { return x << by | x >> (32 - by); };
    auto scramble = [&](std::uint32_t k) { return rotate(k * 0xCC9E2D51u, 15) * 0x1B873593u; };
    const unsigned char* p = reinterpret_cast<const unsigned char*>(bytes);
    std::uint32_t h = 0;
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        const std::uint32_t word = p[k] | p[k + 1] << 8 | p[k + 2] << 16 | std::uint32_t(p[k + 3]) << 24;
        h = rotate(h ^ scramble(word), 13) * 5 + 0xE6546B64u;
    }
    std::uint32_t rest = 0;
    for (std::size_t i = n; i > k; --i) rest = rest << 8 | p[i - 1];
    if (n > k) h ^= scramble(rest);
    h ^= static_cast<std::uint32_t>(n);
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return static_cast<std::int32_t>(h ^ h >> 16);
}

struct Hashing {
    std::uint32_t n_columns;
    bool signs; // negative hashes count -1
};

// Reads documents: use(column, +1 or -1) for every term.
class HashReader {
  public:
    HashReader(const Scan& scan, const std::vector<std::string>& stop_words, const Hashing& hashing)
        : stops_(1, stop_words), scan_(scan), scanner_(scan), hashing_(hashing), any_stops_(!stop_words.empty()) {}

    template <typename Use> void read(const Text& t, Use use) {
        const bool joins = scan_.joins_words() && (scan_.max_n > 1 || any_stops_);
        scanner_.run(t, [&](const char* bytes, const Span* spans, std::size_t n) {
            if (joins) return ngrams(bytes, spans, n, use);
            for (std::size_t k = 0; k < n; ++k) hash(bytes + spans[k].start, spans[k].length(), use);
        });
    }

  private:
    template <typename Use> void hash(const char* bytes, std::size_t n, Use& use) const {
        const std::int32_t h = murmur3(bytes, n);
        const std::uint32_t size = h < 0 ? 0u - static_cast<std::uint32_t>(h) : static_cast<std::uint32_t>(h);
        use(size % hashing_.n_columns, hashing_.signs && h < 0 ? -1 : 1);
    }

    // Write the words that are not stop words one after another: every n-gram is then
    // a stretch of the line.
    template <typename Use> void ngrams(const char* bytes, const Span* spans, std::size_t n, Use& use) {
        line_.clear();
        words_.clear();
        for (std::size_t k = 0; k < n; ++k) {
            const char* word = bytes + spans[k].start;
            if (any_stops_ && &stops_.words().find(word, spans[k].length()) != &absent) continue;
            if (!line_.empty()) line_.push_back(' ');
            words_.push_back({std::uint32_t(line_.size()), std::uint32_t(line_.size()) + spans[k].length()});
            line_.append(word, spans[k].length());
        }
        for (std::size_t size = scan_.min_n; size <= scan_.max_n && size <= words_.size(); ++size)
            for (std::size_t k = 0; k + size <= words_.size(); ++k) {
                const Span last = words_[k + size - 1];
                hash(line_.data() + words_[k].start, last.stop - words_[k].start, use);
            }
    }

    Symbols stops_;
    Scan scan_;
    Scanner scanner_;
    Hashing hashing_;
    bool any_stops_;
    std::string line_;
    std::vector<Span> words_;
};

// Signed counts by column, rows sorted by column; terms that cancel leave a 0.
class HashedCounts : public RowMatrix {
  public:
    HashedCounts(const Texts& texts, const Scan& scan, const std::vector<std::string>& stop_words,
                 const Hashing& hashing, std::size_t n_threads)
        : RowMatrix(n_threads) {
        require(hashing.n_columns >= 1, "n_columns: expected at least 1.");
        const std::vector<std::size_t> bounds = texts.parts(rows_.size());
        run_parts(rows_.size(), [&](std::size_t part) {
            HashReader reader(scan, stop_words, hashing);
            BitSorter sorter(hashing.n_columns <= widest_table ? hashing.n_columns : 0);
            std::vector<Entry> row;
            for (std::size_t k = bounds[part]; k < bounds[part + 1]; ++k) {
                row.clear();
                reader.read(texts[k], [&](std::uint32_t column, int sign) {
                    row.push_back({column, std::uint32_t(sign)});
                });
                add_up(row, hashing.n_columns, sorter);
                rows_[part].add(row.data(), row.size());
            }
        });
    }

  private:
    static constexpr std::size_t widest_table = std::size_t(1) << 22;

    // Sort by column and sum the counts of equal ones, modulo 2^32: signed numbers.
    static void add_up(std::vector<Entry>& row, std::size_t n_columns, BitSorter& sorter) {
        std::size_t n = 0;
        if (n_columns <= widest_table && row.size() * 4 >= sorter.cost()) {
            for (const Entry& entry : row) sorter.increase(entry.id, entry.count);
            sorter.drain([&](std::uint32_t column, std::uint32_t count) { row[n++] = {column, count}; });
        } else {
            std::sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
            for (const Entry& entry : row) {
                if (n > 0 && row[n - 1].id == entry.id)
                    row[n - 1].count += entry.count;
                else
                    row[n++] = entry;
            }
        }
        row.resize(n);
    }
};

} // namespace text
