// From documents to numbered terms: reading one part, merging the parts.
#pragma once

#include "text_chunks.hpp"
#include "text_symbols.hpp"

namespace text {

// Looks up every term of a document in a growing table; calls use(places, n), n <= look_ahead,
// for the terms that count. A place is the term's own: its mark may be changed.
class TermReader {
  public:
    TermReader(const Scan& scan, const std::vector<std::string>& stop_words)
        : symbols(scan.joins_words() ? scan.max_n : 1, stop_words), scan_(scan), scanner_(scan) {}

    template <typename Use> void read(const Text& t, Use use) {
        if (scan_.analyzer == Analyzer::chars_in_words) return pieces(t, use);
        const bool counts_words = !scan_.joins_words() || scan_.min_n <= 1;
        words_.clear();
        scanner_.run(t, [&](const char* bytes, const Span* spans, std::size_t n) {
            counts_words ? strings<true>(bytes, spans, n, use) : strings<false>(bytes, spans, n, use);
        });
        if (!symbols.has_pairs()) return;
        grams_ = words_;
        for (std::uint32_t n = 2; n <= scan_.max_n && n <= words_.size(); ++n) pairs(n, use);
    }

    Symbols symbols;

    void clear_marks() {
        symbols.clear_marks();
        for (Place& place : of_pieces_) place.mark = 0;
    }

  private:
    // Pieces of words: those of each chunk are looked up once.
    template <typename Use> void pieces(const Text& t, Use& use) {
        scanner_.run_chunks(t, [&](const char* bytes, const Span* spans, std::size_t n) {
            chunks_.each(
                bytes, spans, n,
                [&](Span chunk, std::vector<std::uint32_t>& ids) {
                    auto add = [&](const char* own, const Span* grams, std::size_t n_grams) {
                        look_up(own, grams, n_grams, ids);
                    };
                    piece_scan_.each(bytes, chunk, scan_, add);
                    return 0;
                },
                [&](const std::uint32_t* ids, std::size_t n_ids, std::size_t) {
                    Place* places[look_ahead];
                    for (std::size_t begin = 0; begin < n_ids; begin += look_ahead) {
                        const std::size_t m = std::min(look_ahead, n_ids - begin);
                        for (std::size_t k = 0; k < m; ++k) places[k] = &of_pieces_[ids[begin + k]];
                        use(places, m);
                    }
                });
        });
    }

    // The symbols of some terms, stop words left out.
    void look_up(const char* bytes, const Span* spans, std::size_t n, std::vector<std::uint32_t>& ids) {
        Place* places[look_ahead];
        for (std::size_t begin = 0; begin < n; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n - begin);
            symbols.expect_words(m);
            find(bytes, spans + begin, m, places);
            for (std::size_t k = 0; k < m; ++k)
                if (places[k]->id != none) ids.push_back(places[k]->id);
        }
        while (of_pieces_.size() < symbols.size()) of_pieces_.push_back({std::uint32_t(of_pieces_.size()), 0});
    }

    template <bool counts, typename Use> void strings(const char* bytes, const Span* spans, std::size_t n, Use& use) {
        Place* places[look_ahead];
        for (std::size_t begin = 0; begin < n; begin += look_ahead) {
            std::size_t m = std::min(look_ahead, n - begin);
            symbols.expect_words(m);
            find(bytes, spans + begin, m, places);
            if (symbols.n_stop())
                m = std::remove_if(places, places + m, [](const Place* p) { return p->id == none; }) - places;
            if (symbols.has_pairs())
                for (std::size_t k = 0; k < m; ++k) words_.push_back(places[k]->id);
            if (counts) use(places, m);
        }
    }

    // The places of some terms; new ones are added in their order.
    void find(const char* bytes, const Span* spans, std::size_t n, Place** places) {
        const Place** known = const_cast<const Place**>(places); // all of our own table, but for `absent`
        const std::size_t n_new = scan_.analyzer == Analyzer::word
                                      ? symbols.words().locate<false>(bytes, spans, n, known)
                                      : symbols.words().locate<true>(bytes, spans, n, known);
        for (std::size_t k = 0; n_new && k < n; ++k)
            if (known[k] == &absent) places[k] = &symbols.word(bytes + spans[k].start, spans[k].length());
    }

    template <typename Use> void pairs(std::uint32_t n, Use& use) {
        const std::size_t n_grams = words_.size() - n + 1;
        const bool counts = n >= scan_.min_n;
        std::uint64_t keys[look_ahead];
        Place* places[look_ahead];
        for (std::size_t begin = 0; begin < n_grams; begin += look_ahead) {
            const std::size_t m = std::min(look_ahead, n_grams - begin);
            symbols.expect_pairs(n, m);
            for (std::size_t k = 0; k < m; ++k) {
                keys[k] = PairTable::key(grams_[begin + k], words_[begin + k + n - 1]);
                symbols.pairs(n).prefetch_slot(keys[k]);
            }
            for (std::size_t k = 0; k < m; ++k) {
                places[k] = &symbols.pair(n, keys[k]);
                grams_[begin + k] = places[k]->id;
            }
            if (counts) use(places, m);
        }
    }

    Scan scan_;
    Scanner scanner_;
    Pieces piece_scan_;
    ChunkLists chunks_;                        // symbols of the pieces of a chunk
    std::vector<Place> of_pieces_;             // by symbol
    std::vector<std::uint32_t> words_, grams_; // symbols at each place of the document
};

// The terms of all parts, numbered in the order of their first occurrence:
// parts are merged in the order of the documents.
class Terms {
  public:
    explicit Terms(const Scan& scan) : min_words_(scan.joins_words() ? scan.min_n : 1) {}

    // Takes the symbols over, one part after the other.
    void merge(std::vector<Symbols>& parts) {
        numbers_.resize(parts.size());
        for (std::size_t part = 0; part < parts.size(); ++part) {
            if (part == 0)
                symbols_ = std::move(parts[0]);
            else
                numbers_[part] = symbols_.absorb(parts[part]);
            parts[part] = Symbols();
        }
        symbols_.drop_slots();
        leave_out_beginnings();
    }

    std::size_t size() const { return symbol_.size(); }

    // Number of a part's own symbol; `numbers` is empty where they are the same.
    std::uint32_t number(std::size_t part, std::uint32_t local) const {
        return numbers_[part].empty() ? local : numbers_[part][local];
    }
    const std::vector<std::uint32_t>& numbers(std::size_t part) const { return numbers_[part]; }

    // Term numbers in the order of the sorted terms.
    std::vector<std::uint32_t> order() const {
        std::vector<std::uint32_t> sorted = symbols_.sorted(min_words_);
        if (!term_.empty())
            for (std::uint32_t& id : sorted) id = term_[id];
        return sorted;
    }

    void spell(std::uint32_t term, std::string& out) const { symbols_.spell(symbol_[term], out); }

  private:
    // Symbols that only serve as beginnings of n-grams are not terms.
    void leave_out_beginnings() {
        for (std::uint32_t id = 0; id < symbols_.size(); ++id)
            if (symbols_.n_words(id) >= min_words_) symbol_.push_back(id);
        if (symbol_.size() == symbols_.size()) return;
        term_.assign(symbols_.size(), none);
        for (std::uint32_t term = 0; term < symbol_.size(); ++term) term_[symbol_[term]] = term;
        if (numbers_[0].empty()) {
            numbers_[0].resize(symbols_.size());
            std::iota(numbers_[0].begin(), numbers_[0].end(), 0);
        }
        for (auto& number : numbers_)
            for (std::uint32_t& id : number) id = term_[id];
    }

    std::uint32_t min_words_;
    Symbols symbols_;
    std::vector<std::uint32_t> symbol_;               // of each term
    std::vector<std::uint32_t> term_;                 // of each symbol; empty: the same numbers
    std::vector<std::vector<std::uint32_t>> numbers_; // of each part: local symbol -> term
};

} // namespace text
