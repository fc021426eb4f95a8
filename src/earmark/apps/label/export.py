"""Taking the work away: labels, a model, a report."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from earmark._optional import require
from earmark.apps.label.project import described
from earmark.apps.label.session import Session
from earmark.apps.web.replies import Refusal
from earmark.exceptions import DataError
from earmark.pipeline import TextClassifier

__all__ = ["EXPORTS", "export"]

EXPORTS = (
    "labels.csv",
    "labels.jsonl",
    "labels.parquet",
    "answers.csv",
    "model.earmark",
    "report.html",
)


def export(session: Session, name: str, *, all_documents: bool = False) -> bytes:
    """The bytes of one of the ``EXPORTS``.

    With ``all_documents`` the labels files hold every document; those without an
    answer have no label.
    """
    kind = name.rpartition(".")[2]
    if kind == "earmark":
        return _model_bytes(fit_model(session))
    if kind == "html":
        return _report(session)
    if name == "answers.csv":
        return _csv(_answers(session))
    rows = _rows(session, all_documents)
    if kind == "jsonl":
        return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode(
            "utf-8", "surrogatepass"
        )
    if kind == "csv":
        return _csv(rows)
    return _parquet(rows)


def _rows(session: Session, all_documents: bool) -> list[dict[str, Any]]:
    documents, texts = session.documents, session.documents.texts
    notes = _notes(session)
    found = []
    for row in range(len(documents)):
        entry = session.entries.get(row)
        labels = None if entry is None else entry.labels
        if labels is None and not all_documents:
            continue
        name = documents.rows[row] if documents.rows else row + 1
        line: dict[str, Any] = {"row": name}
        if documents.ids is not None:
            line["id"] = documents.ids[row]
        if labels is None:
            line["label"] = None
        else:
            line["label"] = list(labels) if session.loop.any_of else labels[0]
        given = labels is not None and entry is not None
        line["by"] = None if not given else _by(session, row, entry)
        line["person"] = entry.person if entry is not None and given else None
        line["at"] = _stamp(entry) if entry is not None and given else None
        line["note"] = notes.get(row)
        line |= (
            {region: column[row] for region, column in texts.items()}
            if isinstance(texts, dict)
            else {"text": texts[row]}
        )
        found.append(line)
    return found


def _answers(session: Session) -> list[dict[str, Any]]:
    """Every answer that was not undone: who said what, when and how."""
    names, settled = session.documents.rows, session.entries
    return [
        {
            "row": names[document] if names else document + 1,
            "label": None if entry.labels is None else list(entry.labels),
            "person": "model" if entry.how == "bulk" else entry.person,
            "how": entry.how,
            "at": _stamp(entry),
            "counts": document in settled and settled[document].number == entry.number,
        }
        for document, entries in session.store.entries().items()
        for entry in entries
    ]


def _notes(session: Session) -> dict[int, str]:
    """Notes and flags of each document in one line."""
    texts: dict[int, list[str]] = {}
    for note in session.store.notes():
        words = ("[flag] " if note["flagged"] else "") + note["text"]
        who = f"{note['person']}: " if note["person"] else ""
        texts.setdefault(note["document"], []).append((who + words).strip())
    return {document: "; ".join(parts) for document, parts in texts.items()}


def _by(session: Session, row: int, entry: Any) -> str:
    if entry.how == "bulk":
        return "model"
    return "check" if session.loop.is_check[row] else "person"


def _stamp(entry: Any) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.at))


def _csv(rows: list[dict[str, Any]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        rows[0] if rows else ["row", "label", "by", "person", "at", "note", "text"]
    )
    for row in rows:
        label = row["label"]
        shown = json.dumps(label) if isinstance(label, list) else label
        writer.writerow((row | {"label": shown}).values())
    return file.getvalue().encode("utf-8", "surrogatepass")


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow = require("pyarrow", "write Parquet files")
    parquet = require("pyarrow.parquet", "write Parquet files")
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def fit_model(session: Session) -> TextClassifier:
    """A classifier of all answers; the random checks calibrate its promise.

    It answers every document unless it is asked to abstain. The checks take no part
    in fitting, so ``max_error`` keeps its guarantee then.
    """
    loop, documents = session.loop, session.documents
    lessons, checks = loop.lessons(), loop.checks()
    classes = {label for given in lessons.values() for label in given}
    if len(classes) < 2:
        raise Refusal(409, "too_early", "answer documents of two labels at least.")
    taken = documents.take(lessons)
    rest = [d for d in range(len(documents)) if d not in lessons and d not in checks]
    any_of = loop.any_of
    labels = [list(given) if any_of else given[0] for given in lessons.values()]
    calibration = None
    if checks:
        known = [list(given) if any_of else given[0] for given in checks.values()]
        calibration = (documents.take(checks).texts, known)
    pool = documents.take(rest).texts if rest else None
    names = {
        name: texts
        for name, texts in described(session.store).items()
        if name in classes and not any_of
    }

    def fitted(calibration: Any) -> TextClassifier:
        model = TextClassifier(
            multi_label=any_of,
            confidence=loop.confidence,
            class_names=names or "auto",
            random_state=0,
        )
        return model.fit(taken.texts, labels, unlabelled=pool, calibration=calibration)

    try:
        return fitted(calibration)
    except DataError:
        if calibration is None:
            raise
        return fitted(None)  # checks that only repeat lessons promise nothing


def _model_bytes(model: TextClassifier) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.earmark"
        model.save(path)
        return path.read_bytes()


def _report(session: Session) -> bytes:
    """On the random checks, by a model that has not seen them."""
    checks = session.loop.checks()
    if not checks:
        raise Refusal(409, "too_early", "the report needs answered random checks.")
    model = fit_model(session)
    any_of = session.loop.any_of
    labels = [list(given) if any_of else given[0] for given in checks.values()]
    report = model.report(session.documents.take(checks).texts, labels)
    page: str = report.to_html()
    return page.encode("utf-8", "replace")
