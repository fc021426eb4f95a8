"""Common checks for whatever turns documents into rows.

scikit-learn's common tests skip nearly everything for estimators that take raw
text. These do not; they work for any vectorizer with ``fit`` and ``transform``.
"""

from earmark.testing.runner import (
    check_text_vectorizer,
    parametrize_with_text_checks,
    text_checks,
)

__all__ = ["check_text_vectorizer", "parametrize_with_text_checks", "text_checks"]
