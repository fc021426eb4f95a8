// The extension module: each topic registers its functions from its own file.
#include "bindings.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Compiled kernels of earmark; each has a plain twin in earmark.kernels.";
    bind_postings(m);
    bind_text(m);
    bind_unit_sums(m);
}
