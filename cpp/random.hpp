// Random numbers by counter: each depends on its key and its place only.
#pragma once

#include <cstdint>

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

// The finaliser of the SplitMix64 generator: every bit of the result depends on
// every bit of the argument.
inline std::uint64_t mix_bits(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

inline std::uint64_t counter_key(std::uint64_t seed, std::uint64_t step) { return mix_bits(mix_bits(seed + kGolden) + step); }

// A number in [0, 1).
inline double uniform_at(std::uint64_t key, std::uint64_t place) {
    return static_cast<double>(mix_bits((place + 1) * kGolden + key) >> 11) * 0x1.0p-53;
}
