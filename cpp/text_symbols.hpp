// The terms met so far, numbered in the order of their first occurrence.
//
// A symbol is a string (a word, or an n-gram of characters) or a pair of an
// (n-1)-gram and one more word. N-grams of words never exist as strings here;
// they are spelled out at the end, and only those that are kept.
#pragma once

#include "text_table.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

namespace text {

struct Symbol {
    std::uint32_t prefix; // none: a string
    std::uint32_t word;   // string: its place in the string table; n-gram: symbol of its last word
};

class Symbols {
  public:
    Symbols() = default;
    Symbols(std::uint32_t max_n, const std::vector<std::string>& stop_words) : pairs_(max_n - 1) {
        expect_words(stop_words.size());
        for (std::string stop : stop_words) {
            const std::uint32_t length = stop.size();
            stop.resize(length + over_read);
            if (length > 0) words_.find_or_add(stop.data(), length, none);
        }
        n_stop_ = words_.size();
    }

    StringTable& words() { return words_; }
    const StringTable& words() const { return words_; }
    PairTable& pairs(std::uint32_t n) { return pairs_[n - 2]; }
    const PairTable& pairs(std::uint32_t n) const { return pairs_[n - 2]; }
    bool has_pairs() const { return !pairs_.empty(); }
    std::size_t size() const { return size_; }
    std::size_t n_stop() const { return n_stop_; }

    // Make room for so many more strings, or n-grams: until then no slot moves.
    void expect_words(std::size_t more) { words_.expect(more); }
    void expect_pairs(std::uint32_t n, std::size_t more) { pairs_[n - 2].reserve(pairs_[n - 2].size() + more); }

    // The place of a string, for which there must be room; its id is `none` for a stop word.
    // Reads `over_read` bytes behind it.
    Place& word(const char* bytes, std::uint32_t length) {
        Place& place = words_.find_or_add(bytes, length, size_);
        if (place.id == size_) add({none, std::uint32_t(words_.size() - 1)}, 1);
        return place;
    }

    // The place of an n-gram, n >= 2.
    Place& pair(std::uint32_t n, std::uint64_t key) {
        Place& place = pairs_[n - 2].find_or_add(key, size_).place;
        if (place.id == size_) add({std::uint32_t((key - 1) >> 32), std::uint32_t(key - 1)}, n);
        return place;
    }

    // Words in the symbol: n of an n-gram of words, 1 for strings.
    std::uint32_t n_words(std::uint32_t id) const { return has_pairs() ? n_words_[id] : 1; }

    // Number here the symbols of another table, in its order -> its numbers in ours.
    std::vector<std::uint32_t> absorb(const Symbols& other) {
        std::vector<std::uint32_t> ours(other.size());
        std::vector<char> buffer;
        for (std::uint32_t id = 0; id < other.size(); ++id) {
            const Symbol symbol = other.symbol(id);
            if (symbol.prefix == none) {
                expect_words(1);
                ours[id] = word(other.words_.copy(symbol.word, buffer), other.words_.length(symbol.word)).id;
            } else {
                const std::uint32_t n = other.n_words_[id];
                expect_pairs(n, 1);
                ours[id] = pair(n, PairTable::key(ours[symbol.prefix], ours[symbol.word])).id;
            }
        }
        return ours;
    }

    // The symbol as UTF-8, appended to `out`.
    void spell(std::uint32_t id, std::string& out) const {
        const Symbol s = symbol(id);
        if (s.prefix != none) {
            spell(s.prefix, out);
            out.push_back(' ');
            spell(s.word, out);
        } else {
            out.append(words_.bytes(s.word), words_.length(s.word));
        }
    }

    void clear_marks() {
        words_.clear_marks();
        for (PairTable& table : pairs_) table.clear_marks();
    }

    void drop_slots() {
        words_.drop_slots();
        for (PairTable& table : pairs_) table.drop_slots();
    }

    // All symbols with at least `min_words` words, sorted by code points.
    std::vector<std::uint32_t> sorted(std::uint32_t min_words) const {
        std::vector<std::uint32_t> order = sorted_strings();
        if (!has_pairs()) return order;
        // A blank sorts below every character of a word, so n-grams sort as lists of
        // the ranks of their words: stable counting sorts from the last word to the first.
        std::vector<std::uint32_t> rank(size_, 0), all;
        for (std::uint32_t k = 0; k < order.size(); ++k) rank[order[k]] = k + 1;
        for (std::uint32_t id = 0; id < size_; ++id)
            if (n_words_[id] >= min_words) all.push_back(id);
        std::vector<std::uint32_t> next(all.size()), begin(order.size() + 2);
        for (std::uint32_t place = pairs_.size() + 1; place >= 1; --place) {
            std::fill(begin.begin(), begin.end(), 0);
            for (std::uint32_t id : all) ++begin[word_rank(id, place, rank) + 1];
            std::partial_sum(begin.begin(), begin.end(), begin.begin());
            for (std::uint32_t id : all) next[begin[word_rank(id, place, rank)]++] = id;
            all.swap(next);
        }
        return all;
    }

  private:
    Symbol symbol(std::uint32_t id) const { return has_pairs() ? symbols_[id] : Symbol{none, id + n_stop_}; }

    void add(Symbol symbol, std::uint32_t n) {
        if (size_ + 1 == none) throw std::length_error("more than 2^32 - 2 distinct terms");
        ++size_;
        if (!has_pairs()) return;
        symbols_.push_back(symbol);
        n_words_.push_back(static_cast<std::uint8_t>(std::min<std::uint32_t>(n, 255)));
    }

    // Rank of the word at a place (1 = first) of a symbol, 0 beyond its end.
    std::uint32_t word_rank(std::uint32_t id, std::uint32_t place, const std::vector<std::uint32_t>& rank) const {
        std::uint32_t n = n_words_[id];
        if (place > n) return 0;
        for (; n > place; --n) id = symbols_[id].prefix;
        return rank[n == 1 ? id : symbols_[id].word];
    }

    std::vector<std::uint32_t> sorted_strings() const {
        struct Item {
            std::uint64_t head; // the first 8 bytes as a big-endian number
            std::uint32_t id, word;
        };
        std::vector<Item> items;
        for (std::uint32_t id = 0; id < size_; ++id) {
            const Symbol s = symbol(id);
            if (s.prefix != none) continue;
            std::uint64_t head = 0;
            const char* bytes = words_.bytes(s.word);
            const std::uint32_t n = std::min<std::uint32_t>(8, words_.length(s.word));
            for (std::uint32_t k = 0; k < n; ++k)
                head |= std::uint64_t(static_cast<unsigned char>(bytes[k])) << (56 - 8 * k);
            items.push_back({head, id, s.word});
        }
        std::sort(items.begin(), items.end(), [this](const Item& a, const Item& b) {
            if (a.head != b.head) return a.head < b.head;
            const std::uint32_t n = words_.length(a.word), m = words_.length(b.word);
            const int sign = std::memcmp(words_.bytes(a.word), words_.bytes(b.word), std::min(n, m));
            return sign != 0 ? sign < 0 : n < m;
        });
        std::vector<std::uint32_t> order(items.size());
        for (std::size_t k = 0; k < items.size(); ++k) order[k] = items[k].id;
        return order;
    }

    StringTable words_;
    std::vector<PairTable> pairs_; // n = 2, 3, ...
    std::vector<Symbol> symbols_;  // kept only where there are n-grams of words
    std::vector<std::uint8_t> n_words_;
    std::uint32_t n_stop_ = 0, size_ = 0;
};

} // namespace text
