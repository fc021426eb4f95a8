// What the running interpreter says about code points: word, space, lower case.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace text {

constexpr std::uint32_t code_points = 0x110000;

// Bits of the flags of one code point.
enum : std::uint8_t {
    is_word = 1,    // matched by \w
    is_space = 2,   // matched by \s
    is_special = 4, // its lower case depends on the context, or is not one code point
};

// Two-stage tables: most blocks of 256 code points are alike and stored once.
class UnicodeTables {
  public:
    bool ready() const { return !flags_.empty(); }

    std::uint8_t flags(std::uint32_t c) const { return flags_[at(c)]; }
    std::uint32_t lower(std::uint32_t c) const { return c + shift_[at(c)]; }

    const std::vector<std::uint32_t>& special() const { return special_; }

    // Once: other threads may be reading.
    void build(const std::uint8_t* flags, const std::uint32_t* lower) {
        if (ready()) return;
        std::map<std::string, std::uint16_t> known;
        std::vector<std::uint8_t> all_flags;
        std::vector<std::uint32_t> all_shifts;
        for (std::uint32_t block = 0; block < code_points / 256; ++block) {
            std::uint32_t shift[256];
            for (std::uint32_t k = 0; k < 256; ++k) shift[k] = lower[block * 256 + k] - (block * 256 + k);
            std::string key(reinterpret_cast<const char*>(flags + block * 256), 256);
            key.append(reinterpret_cast<const char*>(shift), sizeof shift);
            auto [place, is_new] = known.emplace(std::move(key), static_cast<std::uint16_t>(known.size()));
            if (is_new) {
                all_flags.insert(all_flags.end(), flags + block * 256, flags + block * 256 + 256);
                all_shifts.insert(all_shifts.end(), shift, shift + 256);
            }
            block_[block] = place->second;
        }
        special_.clear();
        for (std::uint32_t c = 0; c < code_points; ++c)
            if (flags[c] & is_special) special_.push_back(c);
        shift_ = std::move(all_shifts);
        flags_ = std::move(all_flags);
    }

  private:
    std::size_t at(std::uint32_t c) const { return std::size_t(block_[c >> 8]) * 256 + (c & 255); }

    std::uint16_t block_[code_points / 256] = {};
    std::vector<std::uint8_t> flags_;
    std::vector<std::uint32_t> shift_; // added modulo 2^32
    std::vector<std::uint32_t> special_;
};

inline UnicodeTables& tables() {
    static UnicodeTables the_tables;
    return the_tables;
}

// Append one code point as UTF-8; surrogates pass as three bytes, so that the
// order of the bytes is the order of the code points for every Python string.
inline char* put_utf8(char* out, std::uint32_t c) {
    if (c < 0x80) {
        *out++ = static_cast<char>(c);
    } else if (c < 0x800) {
        *out++ = static_cast<char>(0xC0 | (c >> 6));
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = static_cast<char>(0xE0 | (c >> 12));
        *out++ = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    } else {
        *out++ = static_cast<char>(0xF0 | (c >> 18));
        *out++ = static_cast<char>(0x80 | ((c >> 12) & 0x3F));
        *out++ = static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    }
    return out;
}

// Read one code point of valid UTF-8 and step over it.
inline std::uint32_t get_utf8(const unsigned char*& p) {
    std::uint32_t c = *p++;
    if (c < 0x80) return c;
    if (c < 0xE0) {
        c = (c & 0x1F) << 6 | (p[0] & 0x3F);
        p += 1;
    } else if (c < 0xF0) {
        c = (c & 0x0F) << 12 | std::uint32_t(p[0] & 0x3F) << 6 | (p[1] & 0x3F);
        p += 2;
    } else {
        c = (c & 0x07) << 18 | std::uint32_t(p[0] & 0x3F) << 12 | std::uint32_t(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
        p += 3;
    }
    return c;
}

// Is this well-formed UTF-8 (Unicode 15, table 3-7: no surrogates, no overlong forms)?
inline bool valid_utf8(const unsigned char* p, std::size_t n) {
    const unsigned char* const end = p + n;
    while (p < end) {
        const unsigned first = *p++;
        if (first < 0x80) continue;
        unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        if (first < 0xC2 || first > 0xF4 || std::size_t(end - p) < more) return false;
        const unsigned second = *p;
        if ((second & 0xC0) != 0x80) return false;
        if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0)) return false;
        if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) return false;
        for (unsigned k = 1; k < more; ++k)
            if ((p[k] & 0xC0) != 0x80) return false;
        p += more;
    }
    return true;
}

inline bool all_ascii(const unsigned char* p, std::size_t n) {
    std::uint64_t seen = 0;
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        std::uint64_t word;
        std::memcpy(&word, p + k, 8);
        seen |= word;
    }
    for (; k < n; ++k) seen |= p[k];
    return (seen & 0x8080808080808080ull) == 0;
}

} // namespace text
