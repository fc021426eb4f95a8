// One body, compiled twice: for the plain processor and for one with AVX2.
#pragma once

// A kernel body marked EARMARK_INLINE is called from an EARMARK_WIDE function and
// from an ordinary one; wide_lanes() says at run time which may be used. Wider
// lanes only work on more classes at a time: sums keep their order and nothing
// is fused, so both give the same bits.
#if defined(__x86_64__) && defined(__GNUC__)
#define EARMARK_WIDE __attribute__((target("avx2")))
inline bool wide_lanes() { return __builtin_cpu_supports("avx2"); }
#else
#define EARMARK_WIDE
inline bool wide_lanes() { return false; }
#endif

#if defined(__GNUC__)
#define EARMARK_INLINE inline __attribute__((always_inline))
#define EARMARK_PREFETCH(address) __builtin_prefetch(address)
#else
#define EARMARK_INLINE inline
#define EARMARK_PREFETCH(address) ((void)0)
#endif
