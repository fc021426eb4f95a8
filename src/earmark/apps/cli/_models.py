"""Model files and the data that goes with them, for several commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.apps.cli._options import NEVER, column_list, error_rate
from earmark.exceptions import DataError

if TYPE_CHECKING:
    from earmark.pipeline import TextClassifier
    from earmark.typing import JsonObject


@dataclass(frozen=True)
class StoredFacts:
    """What a model file says beside the model."""

    text: str | None
    """The text columns of the training data, as they were named."""
    label: str | None
    fingerprint: str
    metadata: JsonObject


def load_for(
    path: Path,
    max_error: float | str | None = None,
    max_novelty: float | str | None = None,
) -> tuple[TextClassifier, StoredFacts]:
    """The classifier in a file, abstaining as asked for, or as it was trained."""
    from earmark.pipeline.files import load_with_info

    if not path.exists():
        raise DataError(
            f"{path}: no such model file; make one with: earmark train DATA --label COL"
        )
    classifier, info = load_with_info(path)
    named = info.metadata.get("columns")
    columns = named if isinstance(named, dict) else {}
    text, label = columns.get("text"), columns.get("label")
    facts = StoredFacts(text, label, info.fingerprint, info.metadata)
    if max_error is not None:
        if classifier.evidence_ is None and max_error != NEVER:
            raise DataError(
                f"{path}: the model does not know how accurate its answers are; train "
                "it with --max-error."
            )
        classifier.set_params(max_error=error_rate(max_error))
    if max_novelty is not None:
        if classifier.novelty_ is None and max_novelty != NEVER:
            raise DataError(
                f"{path}: the model cannot tell documents from elsewhere; train it "
                "with --novelty."
            )
        classifier.set_params(max_novelty=error_rate(max_novelty))
    return classifier, facts


def _columns(
    classifier: TextClassifier, stored: StoredFacts, text: str | None
) -> dict[str, Any]:
    """Where the texts are: as asked for, or as when the model was trained."""
    if text is None:
        text = stored.text
    if text is not None:
        return column_list(text)
    mail = classifier.regions == "email"
    regions = None if mail else classifier.region_names_
    return {} if regions is None else {"regions": regions}


def read_batches(
    classifier: TextClassifier,
    stored: StoredFacts,
    data: str,
    text: str | None,
    **how: Any,
) -> Iterator[Any]:
    """Batches of documents with the columns that the model wants."""
    from earmark.documents import iter_documents

    return iter_documents(
        data,
        label=False,
        null_text="empty",
        **_columns(classifier, stored, text),
        **how,
    )


def read_all(
    classifier: TextClassifier,
    stored: StoredFacts,
    data: str,
    text: str | None,
    label: str | None,
    **how: Any,
) -> Any:
    """All documents of a file with their labels, for evaluation."""
    from earmark.documents import read_documents

    if label is None:
        label = stored.label
    return read_documents(
        data,
        label=label,
        null_text="empty",
        allow_unlabelled=True,
        multi_label=classifier.is_multi_label_,
        **_columns(classifier, stored, text),
        **how,
    )
