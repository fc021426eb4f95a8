"""Labels that may be meant otherwise, for the commands that read them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from earmark.exceptions import EarmarkWarning

if TYPE_CHECKING:
    from earmark.documents import Documents

__all__ = ["ask_about_labels"]

# So many labels are not suspicious, even if each has one document.
_MANY = 20


def ask_about_labels(documents: Documents, column: str | None) -> bool:
    """Ask about labels such as a|b, and about nearly as many labels as documents.

    Whether they look like the labels of classes at all.
    """
    given = [label for label in documents.labels or () if isinstance(label, str)]
    several = {label for label in given if "|" in label}
    single = set(given) - several
    if any(part in single for label in several for part in label.split("|")):
        _warn(
            f"the label {min(several)!r} is taken as one label; `earmark train "
            "--multi-label` takes it as several."
        )
    are_many = len(set(given)) > max(_MANY, len(given) / 2)
    if are_many:
        named = f"the column {column!r}" if column else "the column of labels"
        _warn(
            f"{named} holds {len(set(given)):,} different labels in {len(given):,} "
            "documents: is it the one that is meant? (--label COL)"
        )
    return not are_many


def _warn(message: str) -> None:
    warnings.warn(message, EarmarkWarning, stacklevel=1)
