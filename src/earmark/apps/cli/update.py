"""``earmark update`` and ``earmark forget``: exact changes of a saved model."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from earmark.apps.cli import _options as options
from earmark.apps.cli._console import confirm, note, number, status
from earmark.exceptions import DataError, NotSupportedError
from earmark.whole_files import changed_by_one

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.pipeline import TextClassifier

__all__ = ["forget", "update"]


def _command(method: str, about: str) -> Callable[..., None]:
    """The command that changes a model by a method of TextClassifier."""

    def run(
        model: options.Model,
        data: options.Data,
        label: str | None = None,
        text: str | None = None,
        out: Path | None = None,
        answer_all: bool = False,
        encoding: options.Encoding = None,
        format: options.Format = None,  # noqa: A002
        no_quotes: bool = False,
        merge_labels: bool = False,
        as_json: options.AsJson = False,
    ) -> None:
        how = options.reading(encoding, format, no_quotes)
        columns = (text, label, merge_labels)
        replaced = out is None and model.is_file()
        with changed_by_one(model) if replaced else nullcontext():
            _change(method, model, data, columns, out, answer_all, how, as_json)

    run.__doc__ = f"{about}\n{_OPTIONS}"
    return run


_OPTIONS = """
-o, --out FILE  Write here, not over MODEL.
--answer-all  Answer every document from now on; needed for a model that abstains,
    because what it knew about that does not hold after a change.
"""
update = _command(
    "partial_fit",
    """Add labelled documents to a saved model, exactly.

For multinomial, bernoulli and complement: the model is then the one that training
on all documents at once gives. Rows without a label are left out. MODEL is replaced
as a whole, or left alone if something is wrong.

  earmark update model.earmark new.csv
  earmark update model.earmark new.csv --out newer.earmark
""",
)
forget = _command(
    "forget",
    """Take documents out of a saved model, exactly.

For multinomial, bernoulli and complement: the model is then the one that training
without them gives. DATA holds the documents with their labels, as they were
learned. The file keeps a record of time, number and a salted hash, and no text;
`earmark info MODEL` shows it.

  earmark forget model.earmark leave.csv
""",
)


def _change(
    method: str,
    model: Path,
    data: str,
    columns: tuple[str | None, str | None, bool],
    out: Path | None,
    answer_all: bool,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Learn or forget the documents of ``data``, save, and say what was done."""
    from earmark.apps.changes import recorded
    from earmark.apps.cli._models import load_for

    added = method == "partial_fit"
    target = model if out is None else out
    options.require_output(target, data)
    classifier, stored = load_for(model)
    _require_exact(classifier, method, model)
    _stop_abstaining(classifier, model, answer_all)
    with status(f"reading {data}"):
        documents = _documents(classifier, stored, data, columns, how)
    with status(f"{'adding' if added else 'forgetting'} {len(documents):,} documents"):
        try:
            learn = classifier.partial_fit if added else classifier.forget
            learn(documents.texts, _as_classes(classifier, documents))
        except DataError as error:
            raise DataError(f"{documents.source}: {error}") from error
    metadata, record = recorded(stored.metadata, documents, added=added)
    classifier.save(target, metadata=metadata)
    facts = {
        "model": classifier.model_name_,
        "documents": len(documents),
        "file": str(target),
        "record": record,
    }
    done = "added to" if added else "forgotten by"
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        confirm(f"{number(len(documents), 'document')} {done} {target}, exactly")


def _documents(
    classifier: TextClassifier,
    stored: Any,
    data: str,
    columns: tuple[str | None, str | None, bool],
    how: dict[str, Any],
) -> Documents:
    """The labelled documents, under the labels of the model."""
    from earmark.apps.cli._models import read_all
    from earmark.documents.labels import merge_with

    text, label, merge = columns
    documents = read_all(
        classifier, stored, data, text, label, merge_labels=merge, **how
    )
    if merge:
        documents = merge_with(documents, classifier.classes_.tolist())
    documents, rest = options.labelled_only(documents)
    if len(rest):
        note(f"left out {number(len(rest), 'document')} without a label")
    known = classifier.classes_.tolist()
    new = sorted(set(documents.labels or ()) - set(map(str, known)))
    if new:
        raise DataError(
            f"{documents.source}: the model has not learned the label(s) "
            f"{', '.join(new[:5])}; it knows "
            f"{', '.join(map(str, known[:5]))}. For new labels train "
            "again on all documents."
        )
    return documents


def _as_classes(classifier: TextClassifier, documents: Documents) -> list[Any]:
    """Labels of a file are texts; those of a model may be numbers."""
    by_name = {str(label): label for label in classifier.classes_.tolist()}
    return [by_name[label] for label in documents.labels or ()]


def _require_exact(classifier: TextClassifier, method: str, model: Path) -> None:
    refusal = classifier.engine_.refusals().get(method)
    if refusal is not None:
        raise NotSupportedError(f"{model}: {refusal}")


def _stop_abstaining(classifier: TextClassifier, model: Path, answer_all: bool) -> None:
    """The evidence behind abstaining is that of the old model: out of date."""
    abstains = classifier.max_error is not None or classifier.max_novelty is not None
    if abstains and not answer_all:
        raise NotSupportedError(
            f"{model}: the model abstains, and what it knows about its errors does not "
            "hold after a change; add --answer-all to have every document answered, "
            "or train again on all documents."
        )
    classifier.set_params(max_error=None, max_novelty=None)
