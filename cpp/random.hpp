// Random numbers by counter: SplitMix64, each number from its key and its place only.
#pragma once

#include <cstdint>

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ull;

// The finaliser: every bit of the result depends on every bit of the argument.
inline std::uint64_t mix_bits(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

inline std::uint64_t counter_key(std::uint64_t seed, std::uint64_t step) {
    return mix_bits(mix_bits(seed + golden) + step);
}

// A number in [0, 1).
inline double uniform_at(std::uint64_t key, std::uint64_t place) {
    return static_cast<double>(mix_bits((place + 1) * golden + key) >> 11) * 0x1p-53;
}

// A number in (0, 1] that depends on (seed, key, node) alone.
inline double uniform_of_node(std::uint64_t seed, std::uint64_t key, std::uint64_t node) {
    const std::uint64_t z = mix_bits(seed + (key + node * 0xD1B54A32D192ED03ull) * golden);
    return (static_cast<double>(z >> 11) + 1.0) * 0x1p-53;
}

// The sequence itself.
struct SplitMix64 {
    std::uint64_t state;
    std::uint64_t operator()() { return mix_bits(state += golden); }
};
