// Two sorted lists of terms become one; each term learns its place in it.
#include "arrays.hpp"

#include <algorithm>
#include <cstring>
#include <nanobind/stl/tuple.h>
#include <tuple>

namespace {

struct Terms {
    const uint8_t* bytes;
    const int64_t* offset;
    int64_t n_terms;

    const uint8_t* at(int64_t k) const { return bytes + offset[k]; }
    int64_t length(int64_t k) const { return offset[k + 1] - offset[k]; }
};

// Order of the bytes, which for UTF-8 is the order of the characters.
int compare(const Terms& left, int64_t i, const Terms& right, int64_t j) {
    const int64_t a = left.length(i), b = right.length(j);
    const int order = std::memcmp(left.at(i), right.at(j), std::min(a, b));
    return order != 0 ? order : (a < b ? -1 : (a > b ? 1 : 0));
}

using Merged = std::tuple<Given<uint8_t>, Given<int64_t>, Given<int64_t>, Given<int64_t>>;

Merged merge_terms(In<uint8_t> left_bytes, In<int64_t> left_offset, In<uint8_t> right_bytes,
                   In<int64_t> right_offset) {
    const Terms left{left_bytes.data(), left_offset.data(),
                     static_cast<int64_t>(left_offset.size()) - 1};
    const Terms right{right_bytes.data(), right_offset.data(),
                      static_cast<int64_t>(right_offset.size()) - 1};
    std::vector<uint8_t> bytes;
    std::vector<int64_t> offset, left_place(left.n_terms), right_place(right.n_terms);
    {
        nb::gil_scoped_release release;
        bytes.reserve(left_bytes.size() + right_bytes.size());
        offset.reserve(left.n_terms + right.n_terms + 1);
        offset.push_back(0);
        int64_t i = 0, j = 0;
        while (i < left.n_terms || j < right.n_terms) {
            int order = 0;
            if (i == left.n_terms) order = 1;
            else if (j == right.n_terms) order = -1;
            else order = compare(left, i, right, j);
            const int64_t place = static_cast<int64_t>(offset.size()) - 1;
            const Terms& from = order <= 0 ? left : right;
            const int64_t k = order <= 0 ? i : j;
            bytes.insert(bytes.end(), from.at(k), from.at(k) + from.length(k));
            if (order <= 0) left_place[i++] = place;
            if (order >= 0) right_place[j++] = place;
            offset.push_back(static_cast<int64_t>(bytes.size()));
        }
        bytes.shrink_to_fit();
        offset.shrink_to_fit();
    }
    return {give_array(std::move(bytes)), give_array(std::move(offset)),
            give_array(std::move(left_place)), give_array(std::move(right_place))};
}

} // namespace

void bind_term_merge(nb::module_& m) { m.def("merge_terms", &merge_terms); }
