// Two sorted lists of terms become one; each term learns its place in it, and
// then the counts of the terms are added up.
#include "bindings.hpp"

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

using Merged = std::tuple<Array<uint8_t>, Array<int64_t>, Array<int64_t>, Array<int64_t>>;

Merged merge_terms(In<uint8_t> left_bytes, In<int64_t> left_offset, In<uint8_t> right_bytes, In<int64_t> right_offset) {
    require_bounds(left_offset, left_bytes.size(), "left_offset");
    require_bounds(right_offset, right_bytes.size(), "right_offset");
    const Terms left{left_bytes.data(), left_offset.data(), static_cast<int64_t>(left_offset.size()) - 1};
    const Terms right{right_bytes.data(), right_offset.data(), static_cast<int64_t>(right_offset.size()) - 1};
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
            if (i == left.n_terms)
                order = 1;
            else if (j == right.n_terms)
                order = -1;
            else
                order = compare(left, i, right, j);
            const int64_t place = static_cast<int64_t>(offset.size()) - 1;
            const Terms& from = order <= 0 ? left : right;
            const int64_t k = order <= 0 ? i : j;
            bytes.insert(bytes.end(), from.at(k), from.at(k) + from.length(k));
            if (order <= 0) left_place[i++] = place;
            if (order >= 0) right_place[j++] = place;
            offset.push_back(static_cast<int64_t>(bytes.size()));
        }
    }
    return {give_array(std::move(bytes)), give_array(std::move(offset)), give_array(std::move(left_place)),
            give_array(std::move(right_place))};
}

// ---- counts ---------------------------------------------------------------------

// Tokens and documents, class after class, over sorted terms.
struct Counts {
    In<int64_t> start;
    In<int32_t> term;
    In<int64_t> tokens, documents, place; // `place`: of each term among all
    In<int64_t> row;                      // of each class of the result: the class here, or -1

    Counts(In<int64_t> start_, In<int32_t> term_, In<int64_t> tokens_, In<int64_t> documents_, In<int64_t> place_,
           In<int64_t> row_)
        : start(start_), term(term_), tokens(tokens_), documents(documents_), place(place_), row(row_) {
        require_bounds(start, term.size(), "start");
        require_range(term, static_cast<int64_t>(place.size()), "term");
        require_size(tokens, term.size(), "tokens");
        require_size(documents, term.size(), "documents");
        require_range(place, std::int64_t(1) << 31, "place");
        require_range(row, static_cast<int64_t>(start.size()) - 1, "row", -1);
    }

    int64_t begin(std::size_t c) const { return row.data()[c] < 0 ? 0 : start.data()[row.data()[c]]; }
    int64_t end(std::size_t c) const { return row.data()[c] < 0 ? 0 : start.data()[row.data()[c] + 1]; }
    int64_t place_of(int64_t k) const { return place.data()[term.data()[k]]; }
};

// A sum that does not fit is refused: it would come out negative.
int64_t checked_sum(int64_t a, int64_t b, int64_t column) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        throw std::overflow_error("column " + std::to_string(column) + ": the counts add up");
    return a + b;
}

// Room that is reserved and never written to takes no memory.
class Sums {
  public:
    explicit Sums(std::size_t most) {
        term.reserve(most), tokens.reserve(most), documents.reserve(most);
        start.push_back(0);
    }

    void add_class(const Counts& left, const Counts& right, std::size_t c) {
        int64_t i = left.begin(c), j = right.begin(c);
        const int64_t i_end = left.end(c), j_end = right.end(c);
        while (i < i_end && j < j_end) {
            const int64_t a = left.place_of(i), b = right.place_of(j);
            if (a == b) {
                add(a, checked_sum(left.tokens.data()[i], right.tokens.data()[j], a),
                    checked_sum(left.documents.data()[i], right.documents.data()[j], a));
                ++i, ++j;
            } else if (a < b) {
                copy(left, i++);
            } else {
                copy(right, j++);
            }
        }
        while (i < i_end) copy(left, i++);
        while (j < j_end) copy(right, j++);
        start.push_back(static_cast<int64_t>(term.size()));
    }

    std::vector<int64_t> start;
    std::vector<int32_t> term;
    std::vector<int64_t> tokens, documents;

  private:
    void copy(const Counts& from, int64_t k) { add(from.place_of(k), from.tokens.data()[k], from.documents.data()[k]); }

    void add(int64_t at, int64_t n_tokens, int64_t n_documents) {
        term.push_back(static_cast<int32_t>(at));
        tokens.push_back(n_tokens);
        documents.push_back(n_documents);
    }
};

using Added = std::tuple<Array<int64_t>, Array<int32_t>, Array<int64_t>, Array<int64_t>>;

Added merge_counts(const Counts& left, const Counts& right) {
    require_size(right.row, left.row.size(), "row");
    Sums sums(left.term.size() + right.term.size());
    {
        nb::gil_scoped_release release;
        for (std::size_t c = 0; c < left.row.size(); ++c) sums.add_class(left, right, c);
    }
    return {give_array(std::move(sums.start)), give_array(std::move(sums.term)), give_array(std::move(sums.tokens)),
            give_array(std::move(sums.documents))};
}

} // namespace

void bind_term_merge(nb::module_& m) {
    using Whole = In<int64_t>;
    m.def("merge_terms", &merge_terms, "left_bytes"_a, "left_offset"_a, "right_bytes"_a, "right_offset"_a);
    nb::class_<Counts>(m, "Counts")
        .def(nb::init<Whole, In<int32_t>, Whole, Whole, Whole, Whole>(), "start"_a, "term"_a, "tokens"_a, "documents"_a,
             "place"_a, "row"_a);
    m.def("merge_counts", &merge_counts, "left"_a, "right"_a);
}
