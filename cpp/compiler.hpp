// What differs between compilers and processors, in one place.
#pragma once

#include <cstdint>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

// A function marked EARMARK_WIDEST is compiled for several instruction sets and the
// machine's best one serves; what it calls is marked EARMARK_INLINE. Wider registers
// only work on more columns at a time: sums keep their order and nothing is fused, so
// all give the same bits.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__)
#define EARMARK_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EARMARK_WIDEST
#endif

#if defined(__GNUC__)
#define EARMARK_INLINE inline __attribute__((always_inline))
#define EARMARK_INLINE_LAMBDA __attribute__((always_inline))
#define EARMARK_RESTRICT __restrict
#else
#define EARMARK_INLINE inline
#define EARMARK_INLINE_LAMBDA
#define EARMARK_RESTRICT
#endif

// Before a short loop that is to become wide registers, not a list of single steps.
#if defined(__GNUC__) && !defined(__clang__)
#define EARMARK_KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define EARMARK_KEEP_LOOP
#endif

// Always inline: a call of a function without an effect is one that GCC removes.
EARMARK_INLINE void prefetch([[maybe_unused]] const void* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place);
#endif
}

inline int lowest_bit(std::uint64_t bits) {
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    unsigned long place;
    _BitScanForward64(&place, bits);
    return static_cast<int>(place);
#endif
}

EARMARK_INLINE std::uint32_t count_bits(std::uint64_t bits) {
#if defined(__GNUC__)
    return __builtin_popcountll(bits);
#else
    std::uint32_t n = 0;
    for (; bits; bits &= bits - 1) ++n;
    return n;
#endif
}

// The 128 bits of a product, folded to 64.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
    std::uint64_t high;
    const std::uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#endif
}
