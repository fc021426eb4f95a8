// Fingerprints of documents: 64 bits that depend on their terms and nothing else.
#include "bindings.hpp"

#include <cstring>

namespace {

// The finaliser of the SplitMix64 generator: every bit of the result depends on
// every bit of the argument.
inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

void fingerprints(In<std::int64_t> indptr, In<std::int32_t> indices, In<double> data, Out<std::uint64_t> out) {
    nb::gil_scoped_release release;
    for (std::size_t row = 0; row < out.shape(0); ++row) {
        std::uint64_t sum = 0;
        for (std::int64_t p = indptr.data()[row]; p < indptr.data()[row + 1]; ++p) {
            std::uint64_t bits;
            std::memcpy(&bits, data.data() + p, sizeof bits);
            const auto term = static_cast<std::uint64_t>(indices.data()[p]) + 1;
            sum += mix(bits + term * 0x9e3779b97f4a7c15ULL);
        }
        out.data()[row] = mix(sum);
    }
}

}  // namespace

void bind_shuffle(nb::module_& m) { m.def("fingerprints", &fingerprints); }
