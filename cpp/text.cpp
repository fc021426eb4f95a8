// Bindings of the text kernels: documents, counting, vocabularies.
#include "arrays.hpp"
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
    for (nb::handle item : items) {
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

Scan make_scan(int analyzer, std::uint32_t min_n, std::uint32_t max_n, std::uint32_t min_length) {
    return {static_cast<Analyzer>(analyzer), min_n, max_n, min_length};
}

template <typename Index>
void fill_counted(Counted& self, In<std::int32_t> column, Out<Index> indptr, Out<Index> indices, Out<std::int64_t> data, bool last) {
    nb::gil_scoped_release release;
    self.fill(column.data(), indptr.data(), indices.data(), data.data(), last);
}

template <typename Index> void fill_rows(RowMatrix& self, Out<Index> indptr, Out<Index> indices, Out<std::int64_t> data) {
    nb::gil_scoped_release release;
    self.fill(indptr.data(), indices.data(), data.data());
}

void bind_counted(nb::module_& m) {
    nb::class_<Counted>(m, "CountedTerms")
        .def("__init__",
             [](Counted* self, const Texts& texts, const Scan& scan, nb::list stop_words, std::size_t n_threads) {
                 const std::vector<std::string> stops = utf8_list(stop_words);
                 nb::gil_scoped_release release;
                 new (self) Counted(texts, scan, stops, n_threads);
             })
        .def_prop_ro("n_rows", &Counted::n_rows)
        .def_prop_ro("n_terms", [](const Counted& self) { return self.terms().size(); })
        .def_prop_ro("n_entries", &Counted::n_entries)
        .def("frequencies",
             [](Counted& self, Out<std::int64_t> documents, Out<std::int64_t> occurrences) {
                 nb::gil_scoped_release release;
                 self.frequencies(documents.data(), occurrences.data());
             })
        .def("order",
             [](const Counted& self, Out<std::uint32_t> out) {
                 nb::gil_scoped_release release;
                 const std::vector<std::uint32_t> order = self.terms().order();
                 std::copy(order.begin(), order.end(), out.data());
             })
        .def("terms",
             [](const Counted& self, In<bool> keep) {
                 return str_list(self.terms().size(), keep.data(), [&](std::size_t k, std::string& out) { self.terms().spell(k, out); });
             })
        .def("fill", &fill_counted<std::int32_t>)
        .def("fill", &fill_counted<std::int64_t>);
}

void bind_vocabulary(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary")
        .def("__init__",
             [](Vocabulary* self, nb::list terms, const Scan& scan, nb::list stop_words) {
                 new (self) Vocabulary(utf8_list(terms), scan, utf8_list(stop_words));
             })
        .def_prop_ro("n_columns", &Vocabulary::n_columns);
    nb::class_<RowMatrix>(m, "RowMatrix")
        .def_prop_ro("n_entries", &RowMatrix::n_entries)
        .def("fill", &fill_rows<std::int32_t>)
        .def("fill", &fill_rows<std::int64_t>);
    nb::class_<ColumnCounts, RowMatrix>(m, "ColumnCounts")
        .def("__init__", [](ColumnCounts* self, const Texts& texts, const Vocabulary& vocabulary, std::size_t n_threads) {
            nb::gil_scoped_release release;
            new (self) ColumnCounts(texts, vocabulary, n_threads);
        });
    nb::class_<HashedCounts, RowMatrix>(m, "HashedCounts")
        .def("__init__", [](HashedCounts* self, const Texts& texts, const Scan& scan, nb::list stop_words,
                            std::uint32_t n_columns, bool signs, std::size_t n_threads) {
            const std::vector<std::string> stops = utf8_list(stop_words);
            nb::gil_scoped_release release;
            new (self) HashedCounts(texts, scan, stops, {n_columns, signs}, n_threads);
        });
}

void bind_fused(nb::module_& m) {
    nb::class_<ClassSums>(m, "ClassSums")
        .def("__init__",
             [](ClassSums* self, const Texts& texts, In<std::int64_t> y, std::size_t n_classes, const Scan& scan,
                nb::list stop_words, std::size_t n_threads) {
                 const std::vector<std::string> stops = utf8_list(stop_words);
                 nb::gil_scoped_release release;
                 new (self) ClassSums(texts, y.data(), n_classes, scan, stops, n_threads);
             })
        .def_prop_ro("n_entries", [](const ClassSums& self) { return self.indices.size(); })
        .def("terms",
             [](const ClassSums& self) {
                 return str_list(self.n_terms(), nullptr, [&](std::size_t k, std::string& out) { self.spell(k, out); });
             })
        .def("packed_terms",
             [](const ClassSums& self) {
                 std::string bytes;
                 std::vector<std::int64_t> offsets = {0};
                 for (std::size_t k = 0; k < self.n_terms(); ++k) {
                     self.spell(k, bytes);
                     offsets.push_back(bytes.size());
                 }
                 return nb::make_tuple(give_array(std::vector<std::uint8_t>(bytes.begin(), bytes.end())),
                                       give_array(std::move(offsets)));
             })
        .def("fill", [](const ClassSums& self, Out<std::int64_t> indptr, Out<std::int32_t> indices,
                        Out<std::int64_t> tokens, Out<std::int64_t> documents) {
            std::copy(self.indptr.begin(), self.indptr.end(), indptr.data());
            std::copy(self.indices.begin(), self.indices.end(), indices.data());
            std::copy(self.tokens.begin(), self.tokens.end(), tokens.data());
            std::copy(self.documents.begin(), self.documents.end(), documents.data());
        });
    m.def("score_texts", [](const Texts& texts, const Vocabulary& vocabulary, int tf, int norm, std::optional<In<double>> idf,
                            In2<double> weights, In<double> bias, Out2<double> scores, Out<std::int64_t> n_tokens,
                            std::size_t n_threads) {
        const Linear linear = {static_cast<Tf>(tf), static_cast<Norm>(norm), idf ? idf->data() : nullptr, weights.data(),
                               bias.data(), bias.shape(0)};
        nb::gil_scoped_release release;
        score_texts(texts, vocabulary, linear, scores.data(), n_tokens.data(), n_threads);
    }, nb::arg("texts"), nb::arg("vocabulary"), nb::arg("tf"), nb::arg("norm"), nb::arg("idf").none(), nb::arg("weights"),
       nb::arg("bias"), nb::arg("scores"), nb::arg("n_tokens"), nb::arg("n_threads"));
}

} // namespace

void bind_text(nb::module_& m) {
    m.def("unicode_tables_ready", [] { return tables().ready(); });
    m.def("set_unicode_tables", [](In<std::uint8_t> flags, In<std::uint32_t> lower) { tables().build(flags.data(), lower.data()); });
    nb::class_<Texts>(m, "Texts")
        .def(nb::init<bool>())
        .def("add_list", &Texts::add_list)
        .def("add_arrow", &Texts::add_arrow<std::int32_t>)
        .def("add_arrow", &Texts::add_arrow<std::int64_t>)
        .def("lower_special", &Texts::lower_special)
        .def_prop_ro("ascii", &Texts::ascii)
        .def("__len__", &Texts::size);
    nb::class_<Scan>(m, "Scan").def("__init__", [](Scan* self, int analyzer, std::uint32_t min_n, std::uint32_t max_n, std::uint32_t min_length) {
        new (self) Scan(make_scan(analyzer, min_n, max_n, min_length));
    });
    m.def("murmurhash3", [](nb::bytes data) { return murmur3(data.c_str(), data.size()); });
    bind_counted(m);
    bind_vocabulary(m);
    bind_fused(m);
}
