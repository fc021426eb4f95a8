// The extension module: each topic registers its functions from its own file.
#include "bindings.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Compiled kernels of earmark; each has a plain twin in earmark.kernels.";
    bind_dual(m);
    bind_mixture(m);
    bind_mlp(m);
    bind_offset_svm(m);
    bind_paths(m);
    bind_postings(m);
    bind_rows(m);
    bind_sgd(m);
    bind_term_merge(m);
    bind_text(m);
    bind_third_order(m);
}
