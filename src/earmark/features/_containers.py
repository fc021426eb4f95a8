"""Which sparse class to return."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn import get_config

__all__ = ["csr_container"]


def csr_container() -> Any:
    """csr_matrix, or csr_array when scikit-learn is configured to return arrays."""
    interface = get_config().get("sparse_interface", "spmatrix")
    return sparse.csr_array if interface == "sparray" else sparse.csr_matrix
