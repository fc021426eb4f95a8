// The extension module: each topic registers its functions from its own file.
#include "bindings.hpp"

NB_MODULE(_native, m) {
#ifdef NDEBUG
    // An error in a pool of threads leaves its frames, and the index they hold, to a daemon thread, which the
    // interpreter does not take down at exit: nanobind would report a leak that is none. Debug builds still look.
    nb::set_leak_warnings(false);
#endif
    m.doc() = "Compiled kernels of earmark; each has a plain twin in earmark.kernels.";
    bind_dual(m);
    bind_mixture(m);
    bind_mlp(m);
    bind_offset_svm(m);
    bind_one_vs_rest(m);
    bind_paths(m);
    bind_postings(m);
    bind_rows(m);
    bind_sgd(m);
    bind_shingles(m);
    bind_static_vectors(m);
    bind_term_merge(m);
    bind_text(m);
    bind_third_order(m);
}
