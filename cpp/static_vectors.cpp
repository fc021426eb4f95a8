// Bindings of the table of word vectors; plain twin: earmark.kernels.static_vectors.
#include "static_vectors.hpp"

namespace {

using namespace text;

void encode(const VectorTable& table, const Texts& texts, bool unit, Out2<float> vectors, Out<std::int64_t> n_words,
            Out<std::int64_t> n_known, std::size_t n_threads) {
    require_shape(vectors, texts.size(), table.width(), "vectors");
    require_size(n_words, texts.size(), "n_words");
    require_size(n_known, texts.size(), "n_known");
    nb::gil_scoped_release release;
    const std::size_t n_parts = std::min(usable_threads(n_threads), std::max<std::size_t>(texts.size(), 1));
    const std::vector<std::size_t> bounds = texts.parts(n_parts);
    run_parts(n_parts, [&](std::size_t part) {
        VectorSums sums(table);
        for (std::size_t row = bounds[part]; row < bounds[part + 1]; ++row) {
            sums.write(texts[row], unit, vectors.data() + row * table.width());
            n_words.data()[row] = sums.n_words;
            n_known.data()[row] = sums.n_known;
        }
    });
}

} // namespace

void bind_static_vectors(nb::module_& m) {
    nb::class_<VectorTable>(m, "VectorTable")
        .def(
            "__init__",
            [](VectorTable* self, nb::bytes lines, std::size_t n_words, In2<std::int8_t> vectors, In<float> scale) {
                new (self) VectorTable(lines.c_str(), lines.size(), n_words, vectors, scale);
            },
            "lines"_a, "n_words"_a, "vectors"_a.noconvert(), "scale"_a.noconvert())
        .def("encode", &encode, "texts"_a, "unit"_a, "vectors"_a.noconvert(), "n_words"_a.noconvert(),
             "n_known"_a.noconvert(), "n_threads"_a);
}
