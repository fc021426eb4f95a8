// From a document to the spans of its terms, as lower-cased UTF-8.
//
// Three analyzers as scikit-learn defines them: words (runs of \w of a least
// length), character n-grams, and character n-grams inside words. A fourth takes
// every run of \w and every other character that is no space: `\w+|[^\w\s]`.
#pragma once

#include "compiler.hpp"
#include "text_documents.hpp"

#include <cstdlib>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__)
#define EARMARK_WIDE_SCAN
#include <immintrin.h>
#endif

namespace text {

enum class Analyzer : std::uint8_t { word, chars, chars_in_words, words_and_marks };

struct Scan {
    Analyzer analyzer;
    std::uint32_t min_n, max_n; // n-gram range
    std::uint32_t min_length;   // of a word, in code points

    Scan(int analyzer_, std::uint32_t min_n_, std::uint32_t max_n_, std::uint32_t min_length_)
        : analyzer(static_cast<Analyzer>(analyzer_)), min_n(min_n_), max_n(max_n_), min_length(min_length_) {
        require(0 <= analyzer_ && analyzer_ <= 3, "analyzer: expected 0, 1, 2 or 3.");
        require(1 <= min_n && min_n <= max_n, "min_n, max_n: expected 1 <= min_n <= max_n.");
        require(!joins_words() || max_n <= most_words, "max_n: expected at most 255 words.");
        require(min_length >= 1, "min_length: expected at least 1.");
    }
    // Whether n-grams are of words, not of characters.
    bool joins_words() const { return analyzer == Analyzer::word || analyzer == Analyzer::words_and_marks; }
    static constexpr std::uint32_t most_words = 255; // the length of an n-gram is kept in a byte
};

// From the first byte of a term to the one behind its last.
struct Span {
    std::uint32_t start, stop;
    std::uint32_t length() const { return stop - start; }
};

// Bytes that may be read beyond the end of a term (see text_table.hpp).
constexpr std::size_t over_read = 16;

// ---- ASCII: flags and lower case without the Unicode tables ----------------

inline bool ascii_word(std::uint32_t c) { return (c | 0x20) - 'a' < 26u || c - '0' < 10u || c == '_'; }
inline bool ascii_space(std::uint32_t c) { return c - 9 < 5u || c - 0x1C < 5u; }
inline std::uint32_t ascii_lower(std::uint32_t c) { return c - 'A' < 26u ? c + 32 : c; }

// Lower-case 64 bytes of ASCII into `out`; bit k of the answer: byte k is in a word.
inline std::uint64_t classify_64(const char* in, char* out, bool fold) {
    std::uint64_t words = 0;
#if defined(__SSE2__)
    const __m128i a_upper = _mm_set1_epi8('A'), a = _mm_set1_epi8('a'), zero = _mm_set1_epi8('0');
    const __m128i z_range = _mm_set1_epi8(25), nine_range = _mm_set1_epi8(9), line = _mm_set1_epi8('_');
    const __m128i bit = _mm_set1_epi8(0x20), fold_bit = _mm_set1_epi8(fold ? 0x20 : 0);
    // x <= r for unsigned bytes is min(x, r) == x.
    auto within = [](__m128i x, __m128i r) { return _mm_cmpeq_epi8(_mm_min_epu8(x, r), x); };
    for (int k = 0; k < 4; ++k) {
        const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 16 * k));
        const __m128i upper = within(_mm_sub_epi8(c, a_upper), z_range);
        const __m128i letter = within(_mm_sub_epi8(_mm_or_si128(c, bit), a), z_range);
        const __m128i digit = within(_mm_sub_epi8(c, zero), nine_range);
        const __m128i word = _mm_or_si128(_mm_or_si128(letter, digit), _mm_cmpeq_epi8(c, line));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 16 * k), _mm_add_epi8(c, _mm_and_si128(upper, fold_bit)));
        words |= std::uint64_t(std::uint32_t(_mm_movemask_epi8(word))) << (16 * k);
    }
#else
    for (int k = 0; k < 64; ++k) {
        const unsigned char c = in[k];
        out[k] = static_cast<char>(fold ? ascii_lower(c) : c);
        words |= std::uint64_t(ascii_word(c)) << k;
    }
#endif
    return words;
}

// Writes where words begin and end, in turn: an array of spans. There must be room for
// `block_edges` more numbers than there will be.
constexpr std::size_t block_edges = 64;

struct Edges {
    std::uint32_t* next;
    std::uint64_t in_word = 0; // was the character before in a word?
    std::uint64_t single = 0;  // and was it its first?

    // Which of the next n <= 64 bytes begin a word or follow one; `skip_single` leaves out
    // words of one byte (but for one at the end of the text).
    template <bool skip_single> EARMARK_INLINE std::uint64_t changes(std::uint64_t words, unsigned n = 64) {
        const std::uint64_t before = words << 1 | in_word;
        std::uint64_t changed = words ^ before;
        if (n < 64) changed &= (std::uint64_t(1) << n) - 1;
        if (skip_single) {
            const std::uint64_t lone = words & ~before & ~(words >> 1) & ~(std::uint64_t(1) << 63);
            changed &= ~(lone | lone << 1);
            const std::uint64_t drop = single & ~words & 1; // the block before ended with a word of one byte
            next -= drop;
            changed &= ~drop;
            single = (words & ~before) >> 63;
        }
        in_word = words >> (n - 1) & 1;
        return changed;
    }

    void write(std::uint64_t changed, std::uint32_t base) {
        for (; changed; changed &= changed - 1) *next++ = base + lowest_bit(changed);
    }
    void character(bool word, std::uint32_t at) {
        *next = at;
        next += word != in_word;
        in_word = word;
    }
    void end(std::uint32_t at) {
        if (in_word) *next++ = at;
    }
};

template <bool skip_single> void ascii_blocks(const char* in, std::size_t n, char* out, bool fold, Edges& edges) {
    std::size_t k = 0;
    for (; k + 64 <= n; k += 64) edges.write(edges.changes<skip_single>(classify_64(in + k, out + k, fold)), k);
    if (k < n) {
        char last[64] = {};
        std::memcpy(last, in + k, n - k);
        edges.write(edges.changes<skip_single>(classify_64(last, out + k, fold)), k);
    }
    edges.end(n);
}

#if defined(EARMARK_WIDE_SCAN)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // of the compiler's own header
#define EARMARK_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

// EARMARK_NARROW_SCAN=1 keeps to the narrow registers: the tests compare both.
inline bool has_wide_scan() {
    static const bool has = !std::getenv("EARMARK_NARROW_SCAN") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                            __builtin_cpu_supports("bmi2");
    return has;
}

// The same with registers of 64 bytes: the edges are pressed together and widened sixteen at
// a time, whatever their number.
template <bool skip_single>
EARMARK_AVX512 void ascii_blocks_wide(const char* in, std::size_t n, char* out, bool fold, Edges& edges) {
    const __m512i a_upper = _mm512_set1_epi8('A'), a = _mm512_set1_epi8('a'), zero = _mm512_set1_epi8('0');
    const __m512i n_letters = _mm512_set1_epi8(26), n_digits = _mm512_set1_epi8(10), line = _mm512_set1_epi8('_');
    const __m512i bit = _mm512_set1_epi8(0x20);
    alignas(64) static const struct Places {
        std::uint8_t at[64];
        Places() {
            for (int k = 0; k < 64; ++k) at[k] = k;
        }
    } places;
    const __m512i place = _mm512_load_si512(places.at);
    Edges e = edges;
    for (std::size_t k = 0; k < n; k += 64) {
        const std::size_t rest = n - k;
        const __mmask64 inside = rest >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << rest) - 1;
        const __m512i c = _mm512_maskz_loadu_epi8(inside, in + k);
        const __mmask64 upper = fold ? _mm512_cmplt_epu8_mask(_mm512_sub_epi8(c, a_upper), n_letters) : 0;
        const __mmask64 letter = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(_mm512_or_si512(c, bit), a), n_letters);
        const __mmask64 digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(c, zero), n_digits);
        _mm512_storeu_si512(out + k, _mm512_mask_add_epi8(c, upper, c, bit));
        const std::uint64_t words = letter | digit | _mm512_cmpeq_epi8_mask(c, line);
        const std::uint64_t changed = e.changes<skip_single>(words);
        const __m512i found = _mm512_maskz_compress_epi8(changed, place);
        const __m512i base = _mm512_set1_epi32(static_cast<int>(k));
        const int n_changed = __builtin_popcountll(changed);
        auto store = [&](int part, __m128i bytes) EARMARK_AVX512 {
            _mm512_storeu_si512(e.next + 16 * part, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(bytes)));
        };
        store(0, _mm512_castsi512_si128(found));
        store(1, _mm512_extracti32x4_epi32(found, 1));
        if (n_changed > 32) {
            store(2, _mm512_extracti32x4_epi32(found, 2));
            store(3, _mm512_extracti32x4_epi32(found, 3));
        }
        e.next += n_changed;
    }
    e.end(n);
    edges = e;
}
#pragma GCC diagnostic pop
#endif

template <bool skip_single> void ascii_edges(const char* in, std::size_t n, char* out, bool fold, Edges& edges) {
#if defined(EARMARK_WIDE_SCAN)
    if (has_wide_scan()) return ascii_blocks_wide<skip_single>(in, n, out, fold, edges);
#endif
    ascii_blocks<skip_single>(in, n, out, fold, edges);
}

// ---- any text, one code point at a time -------------------------------------

template <typename Unit, typename Use> void each_unit(const Text& t, Use use) {
    const Unit* units = static_cast<const Unit*>(t.data);
    for (std::uint64_t k = 0; k < t.length; ++k) use(std::uint32_t(units[k]));
}

// Call use(code point, flags) along the document, lower-cased where asked.
template <typename Use> void each_code_point(const Text& t, Use use) {
    const UnicodeTables& table = tables();
    const bool fold = t.fold;
    auto classified = [&](std::uint32_t c) {
        if (c < 0x80) {
            c = fold ? ascii_lower(c) : c;
            use(c, std::uint8_t(ascii_word(c) ? is_word : ascii_space(c) ? is_space : 0));
        } else {
            c = fold ? table.lower(c) : c;
            use(c, table.flags(c));
        }
    };
    switch (t.kind) {
    case Kind::ascii:
    case Kind::latin1: return each_unit<std::uint8_t>(t, classified);
    case Kind::ucs2: return each_unit<std::uint16_t>(t, classified);
    case Kind::ucs4: return each_unit<std::uint32_t>(t, classified);
    case Kind::utf8: break;
    }
    const unsigned char* p = static_cast<const unsigned char*>(t.data);
    const unsigned char* const end = p + t.length;
    while (p < end) classified(get_utf8(p));
}

// ---- the analyzers ----------------------------------------------------------

constexpr std::size_t batch = 4096; // character n-grams handed on at a time

// Character n-grams of a chunk of text, which gets a blank at both ends.
class Pieces {
  public:
    // use(bytes, spans, n), as often as needed; reads no bytes but those of the span.
    template <typename Use> void each(const char* bytes, Span chunk, const Scan& scan, Use& use) {
        const std::size_t n_bytes = chunk.length() + 2;
        if (bytes_.size() < n_bytes + over_read) bytes_.resize(2 * n_bytes + over_read);
        if (starts_.size() < n_bytes + 1) starts_.resize(2 * n_bytes + 1);
        char* const own = bytes_.data();
        own[0] = own[n_bytes - 1] = ' ';
        std::memcpy(own + 1, bytes + chunk.start, chunk.length());
        n_spans_ = 0;
        std::size_t n_points = 0;
        for (std::uint32_t k = 0; k < n_bytes; ++k) {
            starts_[n_points] = k;
            n_points += (static_cast<unsigned char>(own[k]) & 0xC0) != 0x80;
        }
        starts_[n_points] = n_bytes;
        for (std::size_t n = scan.min_n; n <= scan.max_n; ++n) {
            emit(0, std::min(n, n_points), use);
            for (std::size_t k = 1; k + n <= n_points; ++k) emit(k, k + n, use);
            if (n >= n_points) break; // a short word counts once
        }
        use(own, spans_.data(), n_spans_);
    }

  private:
    template <typename Use> void emit(std::size_t first, std::size_t last, Use& use) {
        spans_[n_spans_++] = {starts_[first], starts_[last]};
        if (n_spans_ < batch) return;
        use(bytes_.data(), spans_.data(), n_spans_);
        n_spans_ = 0;
    }

    std::vector<char> bytes_;
    std::vector<std::uint32_t> starts_; // of its characters, and the end
    std::vector<Span> spans_ = std::vector<Span>(batch);
    std::size_t n_spans_ = 0;
};

// Turns documents into spans. `use(bytes, spans, n)` is called once a document
// for words, and as often as needed for character n-grams.
class Scanner {
  public:
    explicit Scanner(const Scan& scan) : scan_(scan) {}

    template <typename Use> void run(const Text& t, Use use) {
        n_spans_ = 0;
        if (scan_.analyzer == Analyzer::word) {
            t.kind == Kind::ascii ? ascii_words(t) : words(t);
        } else if (scan_.analyzer == Analyzer::words_and_marks) {
            words_and_marks(t);
        } else {
            scan_.analyzer == Analyzer::chars ? chars(t, use) : chars_in_words(t, use);
        }
        use(bytes_.data(), spans_.data(), n_spans_);
    }

    // Of character n-grams inside words: use(bytes, chunks, n) for what stands between spaces.
    template <typename Use> void run_chunks(const Text& t, Use use) {
        chunks(t);
        use(bytes_.data(), spans_.data(), n_spans_);
    }

  private:
    void room(std::size_t n) {
        if (bytes_.size() < n + 64 + over_read) bytes_.resize(n + n / 2 + 64 + over_read);
    }

    // Room for the spans of n bytes: a word and what follows it take two.
    Edges start_edges(std::size_t n) {
        const std::size_t wanted = n / 2 + 2 + block_edges / 2;
        if (spans_.size() < wanted) spans_.resize(wanted + n / 2);
        return {&spans_[0].start};
    }

    void ascii_words(const Text& t) {
        room(t.length);
        Edges edges = start_edges(t.length);
        const char* in = static_cast<const char*>(t.data);
        if (scan_.min_length == 1)
            ascii_edges<false>(in, t.length, bytes_.data(), t.fold, edges);
        else
            ascii_edges<true>(in, t.length, bytes_.data(), t.fold, edges);
        if (scan_.min_length > 2) return filter(n_edges(edges) / 2, [](const Span&) { return true; });
        n_spans_ = n_edges(edges) / 2;
        // One byte can only be left over at the very end.
        n_spans_ -= n_spans_ > 0 && spans_[n_spans_ - 1].length() < scan_.min_length;
    }

    void words(const Text& t) {
        room(std::size_t(t.length) * 4);
        Edges edges = start_edges(t.length);
        char* out = bytes_.data();
        switch (t.kind) {
        case Kind::ascii:
        case Kind::latin1: out = wide_words<std::uint8_t>(t, edges, out); break;
        case Kind::ucs2: out = wide_words<std::uint16_t>(t, edges, out); break;
        case Kind::ucs4: out = wide_words<std::uint32_t>(t, edges, out); break;
        case Kind::utf8: out = utf8_words(t, edges, out); break;
        }
        edges.end(out - bytes_.data());
        const std::size_t n = n_edges(edges) / 2;
        if (scan_.min_length > 2)
            filter(n, [this](const Span& span) { return enough_characters(span); });
        else if (scan_.min_length == 2) // more bytes than its first character
            filter(n, [this](const Span& span) { return span.length() > first_length(bytes_[span.start]); });
        else
            n_spans_ = n;
    }

    // Bytes of the character that begins with this byte.
    static std::uint32_t first_length(char byte) {
        const unsigned char first = byte;
        return 1u + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0);
    }

    // A word is measured in characters, not in bytes.
    bool enough_characters(const Span& span) const {
        const unsigned char* word = reinterpret_cast<const unsigned char*>(bytes_.data()) + span.start;
        std::uint32_t n_points = 0;
        for (std::uint32_t k = 0; k < span.length(); ++k) n_points += (word[k] & 0xC0) != 0x80;
        return n_points >= scan_.min_length;
    }

    std::size_t n_edges(const Edges& edges) const { return edges.next - &spans_[0].start; }

    // Of the first n spans, those that are long enough and that `keep` says.
    template <typename Keep> void filter(std::size_t n, Keep keep) {
        n_spans_ = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const Span span = spans_[k];
            spans_[n_spans_] = span;
            n_spans_ += span.length() >= scan_.min_length && keep(span);
        }
    }

    // 64 characters at a time: runs of ASCII go the fast way, whatever stands before and after.
    template <typename Unit> char* wide_words(const Text& t, Edges& edges, char* out) {
        const Unit* in = static_cast<const Unit*>(t.data);
        std::uint64_t k = 0;
        for (; k + 64 <= t.length; k += 64) {
            char block[64];
            std::uint64_t beyond = 0;
            Unit seen = 0;
            for (int i = 0; i < 64; ++i) seen |= in[k + i];
            if (seen >= 0x80)
                for (int i = 0; i < 64; ++i) beyond |= std::uint64_t(in[k + i] >= 0x80) << i;
            for (int i = 0; i < 64; ++i) block[i] = static_cast<char>(in[k + i]);
            out = mixed_block(block, beyond, t.fold, edges, out, [&](unsigned i) { return std::uint32_t(in[k + i]); });
        }
        for (; k < t.length; ++k) out = one_character(in[k], t.fold, edges, out);
        return out;
    }

    // Of 64 characters those that `beyond` marks are not ASCII; character(i) tells them.
    template <typename Character>
    char* mixed_block(const char* block, std::uint64_t beyond, bool fold, Edges& edges, char* out,
                      Character character) {
        char lower[64];
        const std::uint64_t words = classify_64(block, lower, fold);
        for (unsigned at = 0; at < 64;) {
            const std::uint64_t left = beyond >> at;
            const unsigned run = left ? lowest_bit(left) : 64 - at;
            if (run > 0) {
                edges.write(edges.changes<false>(words >> at, run), out - bytes_.data());
                std::memcpy(out, lower + at, run);
                out += run;
                at += run;
            }
            if (left) out = one_character(character(at++), fold, edges, out);
        }
        return out;
    }

    char* utf8_words(const Text& t, Edges& edges, char* out) {
        const unsigned char* in = static_cast<const unsigned char*>(t.data);
        const unsigned char* const end = in + t.length;
        while (in < end) {
            if (end - in >= 64 && all_ascii(in, 64)) {
                const char* block = reinterpret_cast<const char*>(in);
                edges.write(edges.changes<false>(classify_64(block, out, t.fold)), out - bytes_.data());
                in += 64;
                out += 64;
                continue;
            }
            const unsigned char* const stop = std::min(end, in + 64);
            while (in < stop) {
                const std::uint32_t c = get_utf8(in);
                out = one_character(c, t.fold, edges, out);
                if (c >= 0x80) break;
            }
        }
        return out;
    }

    char* one_character(std::uint32_t c, bool fold, Edges& edges, char* out) {
        bool word;
        if (c < 0x80) {
            c = fold ? ascii_lower(c) : c;
            word = ascii_word(c);
        } else {
            c = fold ? tables().lower(c) : c;
            word = tables().flags(c) & is_word;
        }
        edges.character(word, out - bytes_.data());
        return put_utf8(out, word ? c : ' ');
    }

    template <typename Use> void emit(std::size_t first, std::size_t last, Use& use) {
        spans_[n_spans_++] = {starts_[first], starts_[last]};
        if (n_spans_ == batch) {
            use(bytes_.data(), spans_.data(), n_spans_);
            n_spans_ = 0;
        }
    }

    // Runs of word characters, and every other character that is no space.
    void words_and_marks(const Text& t) {
        room(std::size_t(t.length) * 4);
        if (spans_.size() < t.length + 1) spans_.resize(t.length + t.length / 2 + 1);
        char* const base = bytes_.data();
        char* out = base;
        Span* next = spans_.data();
        bool in_word = false;
        each_code_point(t, [&](std::uint32_t c, std::uint8_t flags) {
            const std::uint32_t at = out - base;
            if (flags & is_space) {
                in_word = false;
                return;
            }
            const bool word = flags & is_word;
            out = put_utf8(out, c);
            if (word && in_word)
                next[-1].stop = out - base;
            else
                *next++ = {at, std::uint32_t(out - base)};
            in_word = word;
        });
        n_spans_ = next - spans_.data();
    }

    // Every stretch of n characters; runs of two or more spaces became one blank.
    template <typename Use> void chars(const Text& t, Use& use) {
        room(std::size_t(t.length) * 4 + 8);
        if (spans_.size() < batch) spans_.resize(batch);
        char* const base = bytes_.data();
        char* out = base;
        starts_.clear();
        std::uint32_t n_spaces = 0, space = 0;
        auto put = [&](std::uint32_t c) {
            starts_.push_back(out - base);
            out = put_utf8(out, c);
        };
        auto end_spaces = [&] {
            if (n_spaces) put(n_spaces == 1 ? space : ' ');
            n_spaces = 0;
        };
        each_code_point(t, [&](std::uint32_t c, std::uint8_t flags) {
            if (flags & is_space) {
                ++n_spaces;
                space = c;
                return;
            }
            end_spaces();
            put(c);
        });
        end_spaces();
        starts_.push_back(out - base);
        const std::size_t n_points = starts_.size() - 1;
        for (std::size_t n = scan_.min_n; n <= std::min<std::size_t>(scan_.max_n, n_points); ++n)
            for (std::size_t k = 0; k + n <= n_points; ++k) emit(k, k + n, use);
    }

    // The same inside each chunk, which gets a blank at both ends.
    template <typename Use> void chars_in_words(const Text& t, Use& use) {
        chunks(t);
        for (std::size_t k = 0; k < n_spans_; ++k) pieces_.each(bytes_.data(), spans_[k], scan_, use);
        n_spans_ = 0;
    }

    // Everything between two spaces.
    void chunks(const Text& t) {
        room(std::size_t(t.length) * 4);
        if (spans_.size() < t.length / 2 + 1) spans_.resize(t.length + 1);
        char* const base = bytes_.data();
        char* out = base;
        Span* next = spans_.data();
        bool inside = false;
        each_code_point(t, [&](std::uint32_t c, std::uint8_t flags) {
            if (flags & is_space) {
                inside = false;
                return;
            }
            if (!inside) *next++ = {std::uint32_t(out - base), 0};
            inside = true;
            out = put_utf8(out, c);
            next[-1].stop = out - base;
        });
        n_spans_ = next - spans_.data();
    }

    Scan scan_;
    Pieces pieces_; // of chunks
    std::vector<char> bytes_;
    std::vector<std::uint32_t> starts_; // of code points in bytes_, and the end
    std::vector<Span> spans_;           // the first n_spans_ count
    std::size_t n_spans_ = 0;
};

} // namespace text
