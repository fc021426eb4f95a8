"""``earmark check``: what is wrong with the documents before learning from them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from earmark.apps.cli import _options as options
from earmark.apps.cli._console import say, show, status

if TYPE_CHECKING:
    from earmark.documents import Documents
    from earmark.evaluation import Finding, SuspectedLabelErrors
    from earmark.typing import IntVector, JsonObject

# Labels with or without so few documents are not judged: chance would speak.
_FEWEST = 3
# From so many documents on, two thirds of them judge as well as four fifths.
_MANY = 50_000


class Suspects(NamedTuple):
    """What is known of wrong labels, and the lines to print."""

    errors: SuspectedLabelErrors
    lines: list[JsonObject]


def check(
    data: options.Data,
    files: options.Training,
    test: str | None = None,
    top: Annotated[int, typer.Option(min=0)] = 10,
    as_json: options.AsJson = False,
) -> None:
    """Find common problems in labelled documents.

    Empty texts, repeated documents, equal documents with different labels, leaks
    between training and test part, sorted or very uneven classes, and labels that
    are more probably wrong than right, judged by a model that never saw them.

      earmark check mails.csv --label topic
      earmark check train.csv --label topic --test test.csv
      earmark check posts.csv --label tags --multi-label

    --test DATA2  Test data, to check for leaks.
    --top  Suspected labels to show.
    """
    from earmark.apps.cli._data import ask_about_labels
    from earmark.documents.document import fingerprint
    from earmark.evaluation import check_documents, group_near_duplicates

    with status(f"reading {data}"):
        documents = files.read(data)
        other = None if test is None else files.read(test, documents)
    # Labels that are no classes, such as ids, cannot be judged.
    top = top if ask_about_labels(documents, files.label) else 0
    with status(f"checking {len(documents):,} documents"):
        texts, labels = documents.joined(), documents.labels
        copies = group_near_duplicates(texts)
        against = None if other is None else (other.joined(), other.labels)
        findings = check_documents(texts, labels, test=against, near_duplicates=copies)
        suspects = _suspects(documents, copies.group, top)
    if not as_json:
        _print(documents, findings, suspects)
        return
    found = [{**f.to_dict(), "rows": [row + 1 for row in f.rows]} for f in findings]
    facts = {"fingerprint": fingerprint(documents), "findings": found}
    show(True, {**facts, **_as_json(suspects)}, None)


def _suspects(documents: Documents, copies: IntVector, top: int) -> Suspects | None:
    """Labels that a model without the document contradicts, and how many are wrong."""
    from earmark.documents.labels import each_label

    texts = documents.joined()
    rows = [
        i
        for i, label in enumerate(documents.labels or ())
        if label is not None and texts[i].strip()
    ]
    labelled = documents.take(rows)
    several = any(isinstance(label, list) for label in labelled.labels or ())
    names = sorted(set(each_label(labelled.labels or ())))
    if not top or len(names) < (1 if several else 2):
        return None
    groups = copies[rows]
    errors = (
        _label_by_label(labelled, groups, names)
        if several
        else _contradicted(labelled, groups)
    )
    least = _conflicts(labelled)
    errors = replace(
        errors,
        n_wrong=max(least, errors.n_wrong),
        interval=(max(least, errors.interval[0]), max(least, errors.interval[1])),
    )
    shown = labelled.joined()
    lines = [
        {
            "row": labelled.rows[one.index],
            "label": one.given,
            "suggested": one.suggested,
            "probability": round(one.probability, 3),
            "margin": round(one.margin, 3),
            "text": shown[one.index][:80].replace("\n", " "),
        }
        for one in errors[:top]
    ]
    return Suspects(errors, lines)


def _conflicts(labelled: Documents) -> int:
    """How many labels are wrong at least, since equal texts have different ones."""
    by_text: dict[str, Counter[str]] = {}
    for text, label in zip(labelled.joined(), labelled.labels or (), strict=True):
        by_text.setdefault(" ".join(text.split()), Counter())[str(label)] += 1
    return sum(each.total() - max(each.values()) for each in by_text.values())


def _contradicted(labelled: Documents, groups: IntVector) -> SuspectedLabelErrors:
    from earmark.evaluation import left_out_log_proba, suspected_label_errors
    from earmark.pipeline import TextClassifier

    classes, log_proba = left_out_log_proba(
        TextClassifier("hybrid"),
        labelled.texts,
        labelled.labels,
        groups=groups,
        n_folds=5 if len(labelled) <= _MANY else 3,
    )
    return suspected_label_errors(labelled.labels, log_proba, classes)


def _label_by_label(
    labelled: Documents, groups: IntVector, names: list[str]
) -> SuspectedLabelErrors:
    """Whether each label is missing or too much; the texts are counted once."""
    import numpy as np

    from earmark.evaluation import (
        SuspectedLabelErrors,
        left_out_log_proba,
        suspected_label_errors,
    )
    from earmark.features import WordCounter
    from earmark.models import HybridBayes

    counts = WordCounter().fit_transform(labelled.joined())
    sets = labelled.labels or []
    judged = []
    for name in names:
        has = [name if name in labels else f"not {name}" for labels in sets]
        if min(has.count(name), len(has) - has.count(name)) < _FEWEST:
            continue
        classes, log_proba = left_out_log_proba(
            HybridBayes(), counts, has, groups=groups
        )
        judged.append(suspected_label_errors(has, log_proba, classes))
    every = [one for errors in judged for one in errors]
    return SuspectedLabelErrors(
        tuple(sorted(every, key=lambda one: (-one.probability, -one.margin))),
        np.concatenate([np.zeros(0), *(errors.probability for errors in judged)]),
        sum(errors.n_wrong for errors in judged),
        (
            sum(errors.interval[0] for errors in judged),
            sum(errors.interval[1] for errors in judged),
        ),
        float(np.mean([errors.noise_rate for errors in judged] or [0.0])),
    )


def _as_json(suspects: Suspects | None) -> JsonObject:
    if suspects is None:
        return {"suspected_label_errors": []}
    errors = suspects.errors
    return {
        "suspected_label_errors": suspects.lines,
        "wrong_labels": {
            "estimate": round(errors.n_wrong, 1),
            "interval": [round(end, 1) for end in errors.interval],
            "suspected": len(errors),
        },
    }


def _print(
    documents: Documents, findings: list[Finding], suspects: Suspects | None
) -> None:
    from earmark.documents.document import fingerprint
    from earmark.documents.labels import each_label

    n_labels = len(set(each_label(documents.labels or ())))
    say(f"{len(documents):,} documents, {n_labels} labels")
    say(f"fingerprint {fingerprint(documents)}")
    for finding in findings:
        say(f"- {finding}", hang="  ")
    if not findings:
        say("- no problems found")
    if suspects is None:
        return
    say(f"\n{suspects.errors}")
    for one in suspects.lines:
        say(
            f"  row {one['row']}: labelled {one['label']}, looks like "
            f"{one['suggested']} ({100 * one['probability']:.0f} %): {one['text']}",
            hang="    ",
        )
    more = len(suspects.errors) - len(suspects.lines)
    if more:
        say(f"  and {more:,} more (--top)")
