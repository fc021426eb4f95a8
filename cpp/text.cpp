// Bindings of the text kernels: documents, counting, vocabularies.
#include "text_fused.hpp"
#include "text_hash.hpp"

#include <nanobind/stl/optional.h>

#include <memory>

namespace {

using namespace text;

std::string utf8(PyObject* item) {
    if (!PyUnicode_Check(item)) throw nb::type_error("terms must be str");
    nb::object bytes = nb::steal(PyUnicode_AsEncodedString(item, "utf-8", "surrogatepass"));
    if (!bytes.is_valid()) throw nb::python_error();
    return std::string(PyBytes_AS_STRING(bytes.ptr()), PyBytes_GET_SIZE(bytes.ptr()));
}

std::vector<std::string> utf8_list(const nb::list& items) {
    std::vector<std::string> out;
    out.reserve(nb::len(items));
    for (std::size_t k = 0; k < nb::len(items); ++k) { // by number: encoding may run other code
        const nb::object item = items[k];
        PyObject* p = item.ptr();
        if (PyUnicode_Check(p) && PyUnicode_IS_ASCII(p))
            out.emplace_back(static_cast<const char*>(PyUnicode_DATA(p)), PyUnicode_GET_LENGTH(p));
        else
            out.push_back(utf8(p));
    }
    return out;
}

PyObject* to_str(const std::string& bytes) {
    if (!all_ascii(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
        return PyUnicode_DecodeUTF8(bytes.data(), bytes.size(), "surrogatepass");
    PyObject* item = PyUnicode_New(bytes.size(), 127);
    if (item) std::memcpy(PyUnicode_DATA(item), bytes.data(), bytes.size());
    return item;
}

// A dict with room for n items: growing it step by step costs more than filling it.
nb::dict dict_for([[maybe_unused]] std::size_t n) {
#if PY_VERSION_HEX < 0x030D0000
    PyObject* items = _PyDict_NewPresized(static_cast<Py_ssize_t>(n));
#else
    PyObject* items = PyDict_New();
#endif
    if (!items) throw nb::python_error();
    return nb::steal<nb::dict>(items);
}

// The terms with a column and their columns, by first occurrence.
nb::dict vocabulary_dict(const Counted& counted, In<std::int32_t> column) {
    require_size(column, counted.terms().size(), "column");
    std::size_t n = 0;
    for (std::size_t k = 0; k < column.size(); ++k) n += column.data()[k] >= 0;
    nb::dict items = dict_for(n);
    std::string bytes;
    for (std::size_t k = 0; k < column.size(); ++k) {
        if (column.data()[k] < 0) continue;
        bytes.clear();
        counted.terms().spell(k, bytes);
        const nb::object term = nb::steal(to_str(bytes));
        const nb::object number = nb::steal(PyLong_FromLong(column.data()[k]));
        if (!term.is_valid() || !number.is_valid() || PyDict_SetItem(items.ptr(), term.ptr(), number.ptr()) < 0)
            throw nb::python_error();
    }
    return items;
}

// The terms that spell(k, out) writes, for the k of [0, n) that `keep` marks.
template <typename Spell> nb::list str_list(std::size_t n, const bool* keep, Spell spell) {
    std::size_t n_kept = 0;
    for (std::size_t k = 0; k < n; ++k) n_kept += !keep || keep[k];
    nb::object items = nb::steal(PyList_New(n_kept));
    if (!items.is_valid()) throw nb::python_error();
    std::string bytes;
    Py_ssize_t at = 0;
    for (std::size_t k = 0; k < n; ++k) {
        if (keep && !keep[k]) continue;
        bytes.clear();
        spell(k, bytes);
        PyObject* item = to_str(bytes);
        if (!item) throw nb::python_error();
        PyList_SET_ITEM(items.ptr(), at++, item);
    }
    return nb::borrow<nb::list>(items);
}

template <typename Index>
void fill_counted(Counted& self, In<std::int32_t> column, Out<Index> indptr, Out<Index> indices, Out<std::int64_t> data,
                  bool last) {
    require_size(column, self.terms().size(), "column");
    require_size(indptr, self.n_rows() + 1, "indptr");
    require_size(data, indices.size(), "data");
    nb::gil_scoped_release release;
    self.fill(column.data(), indptr.data(), indices.data(), data.data(), data.size(), last);
}

template <typename Index>
void fill_rows(RowMatrix& self, Out<Index> indptr, Out<Index> indices, Out<std::int64_t> data) {
    require_size(indptr, self.n_rows() + 1, "indptr");
    require_size(indices, self.n_entries(), "indices");
    require_size(data, self.n_entries(), "data");
    nb::gil_scoped_release release;
    self.fill(indptr.data(), indices.data(), data.data());
}

void bind_texts(nb::module_& m) {
    m.def("unicode_tables_ready", [] { return tables().ready(); });
    m.def(
        "set_unicode_tables",
        [](In<std::uint8_t> flags, In<std::uint32_t> lower) {
            require_size(flags, code_points, "flags");
            require_size(lower, code_points, "lower");
            require_range(lower, code_points, "lower");
            tables().build(flags.data(), lower.data());
        },
        "flags"_a, "lower"_a);
    nb::class_<Texts>(m, "Texts")
        .def(nb::init<bool>(), "lowercase"_a)
        .def("add_list", &Texts::add_list, "items"_a)
        .def("add_arrow", &Texts::add_arrow<std::int32_t>, "offsets"_a.noconvert(), "bytes"_a.noconvert(), "owner"_a)
        .def("add_arrow", &Texts::add_arrow<std::int64_t>, "offsets"_a.noconvert(), "bytes"_a.noconvert(), "owner"_a)
        .def("lower_special", &Texts::lower_special)
        .def_prop_ro("ascii", &Texts::ascii)
        .def("__len__", &Texts::size);
    nb::class_<Scan>(m, "Scan").def(nb::init<int, std::uint32_t, std::uint32_t, std::uint32_t>(), "analyzer"_a,
                                    "min_n"_a, "max_n"_a, "min_length"_a);
}

void bind_counted(nb::module_& m) {
    nb::class_<Counted>(m, "CountedTerms")
        .def(
            "__init__",
            [](Counted* self, const Texts& texts, const Scan& scan, nb::list stop_words, std::size_t n_threads) {
                const std::vector<std::string> stops = utf8_list(stop_words);
                nb::gil_scoped_release release;
                new (self) Counted(texts, scan, stops, n_threads);
            },
            "texts"_a, "scan"_a, "stop_words"_a, "n_threads"_a)
        .def_prop_ro("n_rows", &Counted::n_rows)
        .def_prop_ro("n_terms", [](const Counted& self) { return self.terms().size(); })
        .def_prop_ro("n_entries", &Counted::n_entries)
        .def(
            "frequencies",
            [](Counted& self, Out<std::int64_t> documents, Out<std::int64_t> occurrences) {
                require_size(documents, self.terms().size(), "documents");
                require_size(occurrences, self.terms().size(), "occurrences");
                nb::gil_scoped_release release;
                self.frequencies(documents.data(), occurrences.data());
            },
            "documents"_a.noconvert(), "occurrences"_a.noconvert())
        .def(
            "totals",
            [](Counted& self, Out<std::int64_t> totals) {
                require_size(totals, self.n_rows(), "totals");
                nb::gil_scoped_release release;
                self.totals(totals.data());
            },
            "totals"_a.noconvert())
        .def("order",
             [](const Counted& self) {
                 std::vector<std::uint32_t> order;
                 {
                     nb::gil_scoped_release release;
                     order = self.terms().order();
                 }
                 return give_array(std::move(order));
             })
        .def(
            "terms",
            [](const Counted& self, In<bool> keep) {
                require_size(keep, self.terms().size(), "keep");
                return str_list(keep.size(), keep.data(),
                                [&](std::size_t k, std::string& out) { self.terms().spell(k, out); });
            },
            "keep"_a)
        .def("vocabulary", &vocabulary_dict, "column"_a)
        .def("fill", &fill_counted<std::int32_t>, "column"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(),
             "data"_a.noconvert(), "last"_a)
        .def("fill", &fill_counted<std::int64_t>, "column"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(),
             "data"_a.noconvert(), "last"_a);
}

void bind_vocabulary(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary")
        .def(
            "__init__",
            [](Vocabulary* self, nb::list terms, const Scan& scan, nb::list stop_words) {
                new (self) Vocabulary(utf8_list(terms), scan, utf8_list(stop_words));
            },
            "terms"_a, "scan"_a, "stop_words"_a)
        .def_prop_ro("n_columns", &Vocabulary::n_columns);
    nb::class_<RowMatrix>(m, "RowMatrix")
        .def_prop_ro("n_entries", &RowMatrix::n_entries)
        .def("fill", &fill_rows<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert())
        .def("fill", &fill_rows<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert());
    nb::class_<ColumnCounts, RowMatrix>(m, "ColumnCounts")
        .def(
            "__init__",
            [](ColumnCounts* self, const Texts& texts, const Vocabulary& vocabulary, std::size_t n_threads) {
                nb::gil_scoped_release release;
                new (self) ColumnCounts(texts, vocabulary, n_threads);
            },
            "texts"_a, "vocabulary"_a, "n_threads"_a)
        .def("take_totals", [](ColumnCounts& self) { return give_array(std::move(self.totals)); });
    m.def(
        "murmurhash3", [](nb::bytes data) { return murmur3(data.c_str(), data.size()); }, "data"_a);
    nb::class_<HashedCounts, RowMatrix>(m, "HashedCounts")
        .def(
            "__init__",
            [](HashedCounts* self, const Texts& texts, const Scan& scan, nb::list stop_words, std::uint32_t n_columns,
               bool signs, std::size_t n_threads) {
                const std::vector<std::string> stops = utf8_list(stop_words);
                nb::gil_scoped_release release;
                new (self) HashedCounts(texts, scan, stops, {n_columns, signs}, n_threads);
            },
            "texts"_a, "scan"_a, "stop_words"_a, "n_columns"_a, "signs"_a, "n_threads"_a);
}

nb::tuple packed_terms(const ClassSums& sums) {
    std::string bytes;
    std::vector<std::int64_t> offsets = {0};
    for (std::size_t k = 0; k < sums.n_terms(); ++k) {
        sums.spell(k, bytes);
        offsets.push_back(bytes.size());
    }
    return nb::make_tuple(give_array(std::vector<std::uint8_t>(bytes.begin(), bytes.end())),
                          give_array(std::move(offsets)));
}

template <typename Weight>
void score(const Texts& texts, const Vocabulary& vocabulary, int tf, int norm, double unknown,
           std::optional<In<double>> idf, In2<Weight> weights, In<double> bias, Out2<double> scores,
           Out<std::int64_t> n_tokens, std::size_t n_threads) {
    require(0 <= tf && tf <= 3 && 0 <= norm && norm <= 2, "tf, norm: expected 0 to 3 and 0 to 2.");
    require_shape(weights, vocabulary.n_columns(), bias.size(), "weights");
    if (idf) require_size(*idf, vocabulary.n_columns(), "idf");
    require_shape(scores, texts.size(), bias.size(), "scores");
    require_size(n_tokens, texts.size(), "n_tokens");
    const Linear<Weight> linear = {
        static_cast<Tf>(tf), static_cast<Norm>(norm), unknown, idf ? idf->data() : nullptr, weights.data(), bias.data(),
        bias.size()};
    nb::gil_scoped_release release;
    score_texts(texts, vocabulary, linear, scores.data(), n_tokens.data(), n_threads);
}

void bind_fused(nb::module_& m) {
    nb::class_<ClassSums>(m, "ClassSums")
        .def(
            "__init__",
            [](ClassSums* self, const Texts& texts, In<std::int64_t> y, std::size_t n_classes, const Scan& scan,
               nb::list stop_words, std::size_t n_threads) {
                require_size(y, texts.size(), "y");
                require_range(y, static_cast<std::int64_t>(n_classes), "y");
                const std::vector<std::string> stops = utf8_list(stop_words);
                nb::gil_scoped_release release;
                new (self) ClassSums(texts, y.data(), n_classes, scan, stops, n_threads);
            },
            "texts"_a, "y"_a, "n_classes"_a, "scan"_a, "stop_words"_a, "n_threads"_a)
        .def("terms",
             [](const ClassSums& self) {
                 return str_list(self.n_terms(), nullptr, [&](std::size_t k, std::string& out) { self.spell(k, out); });
             })
        .def("packed_terms", &packed_terms)
        // indptr, indices, tokens and documents; they are handed over, once.
        .def("take", [](ClassSums& self) {
            return nb::make_tuple(give_array(std::move(self.indptr)), give_array(std::move(self.indices)),
                                  give_array(std::move(self.tokens)), give_array(std::move(self.documents)));
        });
    m.def("score_texts", &score<double>, "texts"_a, "vocabulary"_a, nb::kw_only(), "tf"_a, "norm"_a, "unknown"_a,
          "idf"_a.none(), "weights"_a.noconvert(), "bias"_a, "scores"_a.noconvert(), "n_tokens"_a.noconvert(),
          "n_threads"_a);
    m.def("score_texts", &score<float>, "texts"_a, "vocabulary"_a, nb::kw_only(), "tf"_a, "norm"_a, "unknown"_a,
          "idf"_a.none(), "weights"_a.noconvert(), "bias"_a, "scores"_a.noconvert(), "n_tokens"_a.noconvert(),
          "n_threads"_a);
}

} // namespace

void bind_text(nb::module_& m) {
    bind_texts(m);
    bind_counted(m);
    bind_vocabulary(m);
    bind_fused(m);
}
