"""Opening a project, and taking the work away: labels, a model, a report."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from earmark._optional import require
from earmark.apps.label.session import Session
from earmark.apps.label.store import Entry, Store
from earmark.apps.web.replies import Refusal
from earmark.documents import Documents
from earmark.documents.exchange import Task, dialect_named, written
from earmark.exceptions import DataError
from earmark.inputs.class_names import label_words
from earmark.pipeline import TextClassifier
from earmark.pipeline.labelling import LabellingLoop
from earmark.pipeline.labelling.learners import Answers, classes_of
from earmark.typing import JsonObject
from earmark.whole_files import csv_line, json_line, locked_file

__all__ = [
    "EXPORTS",
    "claim",
    "export",
    "fit_model",
    "open_project",
    "read_labels",
    "with_answers",
]

EXPORTS = (
    *("labels.csv", "labels.jsonl", "labels.parquet", "answers.csv"),
    *("model.earmark", "report.html"),
)
_LABEL_COLUMNS = ("label", "description", "group", "key")


def claim(folder: Path) -> ExitStack:
    """Hold the project for this process, until the answer is closed or the end."""
    # Two processes would ask for the same documents.
    folder.mkdir(parents=True, exist_ok=True)
    claimed = ExitStack()
    if not claimed.enter_context(locked_file(folder / "in-use", wait=False)):
        claimed.close()
        raise DataError(
            f"{folder}: this project is open in another `earmark label`; use its page, "
            "or end it first."
        )
    return claimed


def _fingerprint(documents: Documents) -> str:
    """A digest of the texts, so that answers never meet other documents."""
    digest = hashlib.sha256()
    for text in documents.joined("\x1f"):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:32]


def read_labels(path: Path) -> list[dict[str, str]]:
    """Labels from a table: a column ``label``; description, group and key if given."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        unknown = sorted(set(table.fieldnames or ()) - set(_LABEL_COLUMNS))
        if unknown or "label" not in (table.fieldnames or ()):
            raise DataError(
                f"{path}: expected the columns {', '.join(_LABEL_COLUMNS)} (the first "
                f"at least), got {', '.join(table.fieldnames or ()) or 'nothing'}."
            )
        return [{k: (v or "").strip() for k, v in row.items()} for row in table]


def _described(store: Store) -> dict[str, list[str]]:
    """Names and descriptions of the labels that have one, as class names."""
    return {
        row["name"]: [row["name"], row["description"]]
        for row in store.label_facts()
        if row["description"]
    }


def open_project(
    documents: Documents,
    folder: Path,
    *,
    labels: Sequence[str] | Sequence[Mapping[str, str]] = (),
    any_of: bool = False,
    model: str = "auto",
    encoder: str | None = "static",
    check_share: float = 0.2,
    max_error: float = 0.05,
    overlap: float = 0.0,
    start: TextClassifier | Literal["names", "auto"] | None = None,
    seed: int = 0,
) -> Session:
    """A session on a new project, or on one that goes on.

    Labels that the documents bring along are taken over as answers, once. A share
    of ``overlap`` of the documents, drawn at random among those without such a label,
    is asked of two people. A model to ``start`` from brings its labels along; "names"
    makes one from nothing but the documents and the names and descriptions of the
    labels; "auto" does so in the background, if each label has such words.
    """
    if len(documents) < 2:
        raise DataError(f"{documents.source}: expected at least two documents.")
    facts = {
        "documents": _fingerprint(documents),
        "several labels": any_of,
        "share of checks": check_share,
        "seed": seed,
    }
    store = Store(folder, facts)
    try:
        _make_labels(store, labels)
        is_auto = start == "auto"
        if start == "names":
            start = _named_model(documents, _names(documents, store))
        elif isinstance(start, TextClassifier):
            store.add_labels(map(str, start.classes_.tolist()), again=False)
        _take_over(documents, store, any_of)
        loop = LabellingLoop(
            documents.joined(),
            regions=documents.texts if isinstance(documents.texts, dict) else None,
            any_of=any_of,
            model=model,
            encoder=encoder,
            class_names=_described(store),
            check_share=check_share,
            max_error=max_error,
            start=start if isinstance(start, TextClassifier) else None,
            random_state=seed,
        )
    except BaseException:
        store.close()
        raise
    order = np.random.default_rng([seed, 2]).permutation(len(documents)).tolist()
    if documents.labels is not None:  # what the data says is no second opinion
        order = [d for d in order if documents.labels[d] is None]
    twice = order[: round(overlap * len(documents))]
    first = partial(_first_model, documents, store) if is_auto and not any_of else None
    return Session(documents, loop, store, twice, first)


def with_answers(documents: Documents, answers: Documents) -> Documents:
    """The documents with labels that others gave to the same texts, or the same ids."""
    texts, ids = answers.joined(), answers.ids
    labels = answers.labels or [None] * len(answers)
    by_text = {t: one for t, one in zip(texts, labels, strict=True) if one is not None}
    by_id = dict(zip(ids or (), labels, strict=False)) if documents.ids else {}
    own = documents.labels or [None] * len(documents)
    numbers = documents.ids or [None] * len(documents)
    merged = [
        known if known is not None else by_text.get(text, by_id.get(number))
        for known, text, number in zip(own, documents.joined(), numbers, strict=True)
    ]
    if all(one is None for one in merged):
        raise DataError(
            f"{answers.source}: none of its {len(answers):,} documents is in "
            f"{documents.source} with a label; the texts must be the same."
        )
    return replace(documents, labels=merged)


def _make_labels(
    store: Store, labels: Sequence[str] | Sequence[Mapping[str, str]]
) -> None:
    """Make labels; what was said of one on the page counts before the table."""
    rows = [{"label": row} if isinstance(row, str) else dict(row) for row in labels]
    store.add_labels([row["label"] for row in rows], again=False)
    known = {facts["name"]: facts for facts in store.label_facts()}
    for row in rows:
        facts = known.get(row["label"])
        if facts is not None:
            new = {k: facts[k] or row.get(k, "") for k in _LABEL_COLUMNS[1:]}
            if any(facts[k] != value for k, value in new.items()):
                store.describe_label(facts["name"], **new)


def _take_over(documents: Documents, store: Store, any_of: bool) -> None:
    if documents.labels is None:
        return
    answers = [
        (row, tuple(label) if any_of else (label,))
        for row, label in enumerate(documents.labels)
        if label is not None
    ]
    names = sorted({name for _, labels in answers for name in labels})
    store.add_labels(names, again=False)
    store.write("from-the-data", answers, "data", "data")


def _names(documents: Documents, store: Store) -> dict[str, list[str]]:
    """The labels whose names or descriptions say something, with what they say.

    Underscores and the like in names are blanks. A name speaks if two documents hold
    one of its words, a description always does; the other labels come with answers.
    """
    labels, described = store.labels(), _described(store)
    words = {name: label_words(name) for name in labels}
    frequent = _frequent(documents, {word for some in words.values() for word in some})
    names = {}
    for name in labels:
        spoken = " ".join(word for word in words[name] if word in frequent)
        texts = [spoken] if spoken else []
        texts += [text for text in described.get(name, ())[1:] if text not in texts]
        if texts:
            names[name] = texts
    return names


def _named_model(
    documents: Documents, names: Mapping[str, list[str]]
) -> TextClassifier:
    """A first model, from the documents and what the labels say."""
    if len(names) < 2:
        raise DataError(
            "the names of fewer than two labels say something: a name is of use if at "
            "least two documents hold one of its words. Describe the labels (--labels "
            "labels.csv with a column description), or start without --from-names."
        )
    return TextClassifier(class_names=dict(names), random_state=0).fit(
        documents.texts, classes=list(names)
    )


def _first_model(documents: Documents, store: Store) -> TextClassifier | None:
    """A first model if every label says something; else the answers are waited for."""
    names = _names(documents, store)
    if len(names) < max(2, len(store.labels())):
        return None
    return _named_model(documents, names)


def _frequent(documents: Documents, words: set[str]) -> set[str]:
    """Those of the words that at least two documents hold."""
    counts = Counter(
        word
        for text in documents.joined()
        for word in words & set(re.findall(r"\w+", text.lower()))
    )
    return {word for word, count in counts.items() if count > 1}


# -- taking the work away -------------------------------------------------------------


def export(session: Session, name: str, *, all_documents: bool = False) -> bytes:
    """The bytes of one of the ``EXPORTS``; of documents without an answer if asked."""
    kind = name.rpartition(".")[2]
    if kind == "earmark":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.earmark"
            fit_model(session).save(path)
            return path.read_bytes()
    if kind == "html":
        return _report(session)
    dialect = dialect_named(name)
    if dialect is not None:
        return b"".join(written(_tasks(session), dialect))
    if name == "answers.csv":
        return _csv(_answers(session))
    rows = _rows(session, all_documents)
    if kind == "jsonl":
        return b"".join(map(json_line, rows))
    if kind == "csv":
        return _csv(rows)
    return _parquet(rows)


def _rows(session: Session, all_documents: bool) -> list[JsonObject]:
    documents, notes = session.documents, _notes(session)
    rows = []
    for document in range(len(documents)):
        entry = session.entries.get(document)
        if entry is None or entry.labels is None:
            if not all_documents:
                continue
            entry = None
        row: JsonObject = {"row": session.row_of(document)}
        if documents.ids is not None:
            row["id"] = documents.ids[document]
        row["label"] = _label(session, entry)
        row["by"] = None if entry is None else "person"
        if entry is not None and session.loop.is_check[document]:
            row["by"] = "check"
        if entry is not None and entry.how == "bulk":
            row["by"] = "model"
        row["person"] = None if entry is None else entry.person
        row["at"] = None if entry is None else _stamp(entry)
        row["note"] = notes.get(document)
        rows.append(row | session.parts_of(document, "text"))
    return rows


def _tasks(session: Session) -> Iterator[Task]:
    """All documents for another tool: answers, and suggestions for the others."""
    session.wait()
    n, several = len(session.documents), session.loop.any_of
    classes = session.store.labels()
    view = session.view
    guesses = view.guesses(np.arange(n)) if view.fitted is not None else [()] * n
    sure = view.confidence
    ids = session.documents.ids
    for document in range(n):
        entry = session.entries.get(document)
        labels = None if entry is None else entry.labels
        # A random check is to be answered by somebody who has not seen a guess.
        is_open = labels is None and session.may_see(document, "")
        suggested = guesses[document] if is_open else ()
        yield Task(
            session.parts_of(document, "text"),
            session.row_of(document) if ids is None else ids[document],
            labels,
            suggested,
            round(float(sure[document]), 6) if suggested else None,
            classes,
            several,
        )


def _label(session: Session, entry: Entry | None) -> str | list[str] | None:
    """The answer of an entry: a label, or a list if documents have several."""
    if entry is None or entry.labels is None:
        return None
    return list(entry.labels) if session.loop.any_of else entry.labels[0]


def _answers(session: Session) -> list[JsonObject]:
    """Every answer that was not undone: who said what, when and how."""
    numbers = {document: entry.number for document, entry in session.entries.items()}
    return [
        {
            "row": session.row_of(document),
            "label": _label(session, entry),
            "person": "model" if entry.how == "bulk" else entry.person,
            "how": entry.how,
            "at": _stamp(entry),
            "counts": numbers.get(document) == entry.number,
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


def _stamp(entry: Entry) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.at))


def _csv(rows: list[JsonObject]) -> bytes:
    names = ["row", "label", "by", "person", "at", "note", "text"]
    lines = [csv_line(rows[0] if rows else names)]
    for row in rows:
        label = row["label"]
        cell = json.dumps(label) if isinstance(label, list) else label
        lines.append(csv_line((row | {"label": cell}).values()))
    return b"".join(lines)


def _parquet(rows: list[JsonObject]) -> bytes:
    pyarrow = require("pyarrow", "write Parquet files")
    parquet = require("pyarrow.parquet", "write Parquet files")
    file = io.BytesIO()
    rows = [{k: _encodable(value) for k, value in row.items()} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def _encodable(value: object) -> object:
    """The same value; a lone surrogate, which has no UTF-8, becomes "?"."""
    if isinstance(value, list):
        return list(map(_encodable, value))
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return value


def fit_model(session: Session) -> TextClassifier:
    """A classifier of all answers; the random checks only calibrate its promise."""
    loop, documents = session.loop, session.documents
    lessons, checks = loop.lessons(), loop.checks()
    classes = classes_of(lessons)
    if len(classes) < 2:
        raise Refusal(409, "too_early", "answer documents of two labels at least.")
    rest = [d for d in range(len(documents)) if d not in lessons and d not in checks]
    names = {
        name: texts
        for name, texts in _described(session.store).items()
        if name in classes and not loop.any_of
    }
    model = TextClassifier(
        multi_label=loop.any_of,
        level=loop.level,
        class_names=names or "auto",
        random_state=0,
    )
    texts, labels = _labelled(session, lessons)
    pool = documents.take(rest).texts if rest else None
    if checks:
        try:
            calibration = _labelled(session, checks)
            return model.fit(texts, labels, unlabelled=pool, calibration=calibration)
        except DataError:  # checks that only repeat lessons promise nothing
            pass
    return model.fit(texts, labels, unlabelled=pool)


def _labelled(session: Session, answers: Answers) -> tuple[Any, list[Any]]:
    """Texts and labels of answered documents, as a classifier takes them."""
    any_of = session.loop.any_of
    labels = [list(answer) if any_of else answer[0] for answer in answers.values()]
    return session.documents.take(answers).texts, labels


def _report(session: Session) -> bytes:
    """A report on the random checks, by a model that was not trained on them."""
    checks = session.loop.checks()
    if not checks:
        raise Refusal(409, "too_early", "the report needs answered random checks.")
    header = {"date": time.strftime("%Y-%m-%d"), "data": session.documents.source}
    report = fit_model(session).report(*_labelled(session, checks), header=header)
    page: str = report.to_html()
    return page.encode("utf-8", "replace")
