"""Why a document got its label: evidence that adds up (AB3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from earmark.decision.decision import Decision
from earmark.exceptions import NotSupportedError
from earmark.features.columns import Columns
from earmark.features.scoring import ScoreParts
from earmark.inputs.regions import RegionTexts
from earmark.parameters import offers
from earmark.pipeline.text_model import TextModel
from earmark.typing import FloatMatrix, FloatTable, FloatVector, IntVector, Label

if TYPE_CHECKING:
    from earmark.models.hierarchical import HiddenNodes

_BAR = 24  # columns
# Words that are asked about for telling ones: the most frequent.
_ASKED = 20_000
_NAME = 30
_UNKNOWN = "The model knows no word of this text."


@dataclass(frozen=True)
class TermEvidence:
    """What one term adds to the score of the label over the runner-up."""

    term: str
    contribution: float
    region: str | None = None
    labelled: float | None = None
    """How much of it labels and class names taught; the rest came from text without
    labels. None where nothing was learned from such text."""


@dataclass(frozen=True)
class PathEvidence:
    """A chain term - document - term - document - term into the label's documents."""

    terms: tuple[str, ...]
    """Three, with their region where there are some; the first is a term of the
    explained document."""
    documents: tuple[int, int]
    """Rows of the X that was given to ``fit``, from 0."""
    strength: float
    """Sum of the terms' log-ratios between the label and the runner-up."""

    def __str__(self) -> str:
        first, middle, last = self.terms
        left, right = self.documents
        return f"{first} - document {left} - {middle} - document {right} - {last}"


@dataclass(frozen=True)
class Explanation:
    """The evidence for one decision.

    ``sum(t.contribution for t in terms) + sum(constants.values())`` equals
    ``score``. Each term speaks for the label against the runner-up. The score is that
    of ``decision_function``: the label's log-odds against all other classes together,
    where the constant "other classes" is what those beside the runner-up take away; or
    its margin over the runner-up, for models that have margins or similarities. The
    confidence is that of ``decide``.
    """

    label: Any
    confidence: float | None
    """None where no document had a label."""
    runner_up: Any
    score: float
    terms: tuple[TermEvidence, ...]
    """All terms of the document, strongest first."""
    constants: Mapping[str, float] = field(default_factory=dict)
    """Evidence that belongs to no single term: prior, absent terms."""
    note: str = ""
    top: int = 10
    """How many terms ``str()`` shows."""
    paths: tuple[PathEvidence, ...] = ()
    """Strongest first, where they were asked for."""

    @property
    def _sure(self) -> str:
        if self.confidence is None:
            return "nobody knows how sure"
        if _CERTAIN < self.confidence <= 1.0:
            return "over 99% sure"
        return f"{self.confidence:.0%} sure"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """A table for notebooks; evidence against the label is drawn to the left."""
        against = "" if self.runner_up is None else f" rather than {self.runner_up}"
        rows = [(_name(t), t.contribution) for t in self.terms[: self.top]]
        rows += [(f"({name})", value) for name, value in self.constants.items()]
        largest = max((abs(value) for _, value in rows), default=0.0) or 1.0
        drawn = "".join(
            f"<tr><td>{escape(name)}</td><td>{value:+.3f}</td>"
            f"<td>{_bar(value / largest)}</td></tr>"
            for name, value in rows
        )
        head = escape(f"{self.label}{against} ({self._sure})")
        return (
            f"<div><b>{head}</b>{f'<p>{escape(self.note)}</p>' if self.note else ''}"
            f"<table><tbody>{drawn}</tbody></table></div>"
        )

    def __str__(self) -> str:
        against = "" if self.runner_up is None else f", not {self.runner_up}"
        lines = [f"{self.label} ({self._sure}{against})"]
        if self.note:
            lines.append(self.note)
        lines += _table(self)
        if self.paths:
            lines.append(f"paths through documents of {self.label} (rows from 0)")
            lines += [f"  {path.strength:+8.3f}  {path}" for path in self.paths]
        return "\n".join(lines)


# A probability above this is not called certainty.
_CERTAIN = 0.994


def _bar(share: float) -> str:
    """A bar from the middle: for the label to the right, against it to the left."""
    left = 50 - 50 * max(-share, 0)
    colour = "#1f6391" if share > 0 else "#a5471c"
    return (
        '<div style="width:12em;height:.8em;position:relative">'
        f'<div style="position:absolute;left:{left:.1f}%;width:{50 * abs(share):.1f}%;'
        f'height:100%;background:{colour}"></div></div>'
    )


def _table(evidence: Explanation) -> list[str]:
    """A line per term and constant, with bars to the left for what speaks against."""
    top, more = evidence.terms[: evidence.top], evidence.terms[evidence.top :]
    rows = [(_short(_name(t)), t.contribution, t.labelled) for t in top]
    if more:
        rest = sum(t.contribution for t in more)
        rows.append((f"({len(more)} more term{'s' * (len(more) > 1)})", rest, None))
    rows += [(f"({name})", value, None) for name, value in evidence.constants.items()]
    width = max((len(name) for name, _, _ in rows), default=0)
    split = any(labelled is not None for _, _, labelled in rows)
    left, right = _bar_widths([value for _, value, _ in rows], width + 24 * split)
    largest = max((abs(value) for _, value, _ in rows), default=0.0) or 1.0
    lines = [f"  {'':<{width}}     score  supervised  unlabelled"] * split
    for name, value, labelled in rows:
        bar = "█" * max(1, round(right * abs(value) / largest)) if value else ""
        drawn = (
            f"{bar:>{left}}│" if value < 0 else f"{'':<{left}}{'│' * bool(left)}{bar}"
        )
        source = " " * (24 * split)
        if labelled is not None:
            source = f"  {labelled:+10.3f}  {value - labelled:+10.3f}"
        lines.append(f"  {name:<{width}}  {value:+8.3f}{source}  {drawn}".rstrip())
    return [*lines, f"  {'sum':<{width}}  {evidence.score:+8.3f}"]


def _bar_widths(values: list[float], used: int) -> tuple[int, int]:
    """Columns for bars to the left and to the right of an axis, in lines of 80."""
    room = max(80 - used - 16, 12)
    if min(values, default=0.0) < 0:
        return min(_BAR, room) // 2, min(_BAR, room) // 2
    return 0, min(_BAR, room)


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _name(evidence: TermEvidence) -> str:
    return in_region(evidence.term, evidence.region)


def in_region(term: str, region: str | None) -> str:
    """A term as it is shown: with its region, where there are several."""
    return term if region is None else f"{region}: {term}"


def explain_documents(
    fitted: TextModel, texts: RegionTexts, decision: Decision, top: int, paths: int
) -> list[Explanation]:
    """The evidence behind the likeliest label of each document, as it was decided."""
    described = fitted.columns.hashed_terms(texts)

    def describe(column: int) -> tuple[str, str | None]:
        if column not in described:
            described[column] = fitted.columns.describe(column)
        return described[column]

    columns, confidence = _explained(decision)
    chains = fitted.paths(texts, paths) if paths else [[] for _ in columns]
    explanations = []
    for parts, label, sure, strongest in zip(
        fitted.contributions(texts, lambda column: in_region(*describe(column))),
        columns.tolist(),
        confidence.tolist(),
        chains,
        strict=True,
    ):
        evidence = _evidence(fitted, parts, label, sure, describe)
        evidences = [
            PathEvidence(
                tuple(in_region(*describe(t)) for t in path.terms),
                path.documents,
                path.strength,
            )
            for path in strongest
        ]
        explanations.append(replace(evidence, top=top, paths=tuple(evidences)))
    return explanations


def _explained(decision: Decision) -> tuple[IntVector, FloatVector]:
    """The column of the label to explain, and how sure it is, of each document.

    Of several labels the likeliest, with its probability.
    """
    if decision.any_of:
        columns = decision.scores.argmax(axis=1)
        return columns, decision.scores[np.arange(len(columns)), columns]
    assert decision.best is not None
    place = {label: c for c, label in enumerate(decision.classes.tolist())}
    columns = np.array([place[label] for label in decision.best.tolist()], np.int64)
    return columns, decision.confidence


def _evidence(
    fitted: TextModel,
    parts: ScoreParts,
    label: int,
    sure: float,
    describe: Callable[[int], tuple[str, str | None]],
) -> Explanation:
    """Evidence for a class against the best other one."""
    totals = parts.terms.sum(axis=0) + sum(parts.constants.values())
    classes = fitted.classes_.tolist()
    others = [c for c in range(len(classes)) if c != label and not fitted.multi_label]
    runner_up = max(others, key=lambda c: totals[c]) if others else None

    def gap(values: Any) -> Any:
        taken = values[..., label]
        return taken if runner_up is None else taken - values[..., runner_up]

    contributions = gap(parts.terms)
    labelled = None if parts.labelled is None else gap(parts.labelled)
    terms = []
    for i in np.argsort(-np.abs(contributions), kind="stable"):
        term, region = (
            describe(int(parts.columns[i]))
            if parts.names is None
            else (parts.names[i], None)
        )
        taught = None if labelled is None else float(labelled[i])
        terms.append(TermEvidence(term, float(contributions[i]), region, taught))
    constants = {k: float(gap(np.asarray(v))) for k, v in parts.constants.items()}
    if len(others) > 1 and fitted.has_log_odds and np.isfinite(totals[runner_up]):
        rest = special.logsumexp(totals[others])
        constants["other classes"] = float(totals[runner_up] - rest)
    return Explanation(
        label=classes[label],
        confidence=None if np.isnan(sure) else float(sure),
        runner_up=None if runner_up is None else classes[runner_up],
        score=float(contributions.sum() + sum(constants.values())),
        terms=tuple(terms),
        constants=constants,
        note=parts.note or ("" if terms else _UNKNOWN),
    )


def telling_terms(
    fitted: TextModel, top: int
) -> dict[Label, list[tuple[str, float]]] | None:
    """The terms that speak most for each class over the mean of the others."""
    weights = fitted.term_weights()
    if weights is None:
        return None
    columns = fitted.columns
    if {"piece", "vector"} & {block.kind for block in columns.blocks}:
        names, weights = _words_alone(fitted, weights)
    else:
        names = _ColumnNames(columns)
    gap, n_classes = weights, weights.shape[1]
    if n_classes > 1:
        gap = weights - (weights.sum(axis=1, keepdims=True) - weights) / (n_classes - 1)
    terms = {}
    for c, label in enumerate(fitted.classes_.tolist()):
        column = gap[:, min(c, n_classes - 1)]
        best = np.argsort(-column, kind="stable")[:top]
        terms[label] = [
            (names[int(place)], float(column[place]))
            for place in best
            if np.isfinite(column[place])
        ]
    return terms


def _words_alone(
    fitted: TextModel, weights: FloatMatrix | FloatTable
) -> tuple[Sequence[str], FloatMatrix | FloatTable]:
    """Each known word, and its score as a text of its own times how rare it is.

    So a word counts with its pieces and its meaning. Where an encoder would have to
    read every word, its own weight must do.
    """
    columns, first = fitted.columns, fitted.columns.blocks[0]
    rarity = np.ones(first.width)
    if first.weighting is not None and first.weighting.idf != "none":
        rarity = np.asarray(first.weighting.idf_)
    terms = np.array([columns.describe(i)[0] for i in range(first.width)], dtype=object)
    # Rare words would be telling by chance, and are many.
    words = np.array([i for i in np.argsort(rarity) if terms[i].isalnum()][:_ASKED])
    if len(columns.regions) > 1 or not columns.adds_up_words:
        names = [in_region(*columns.describe(int(i))) for i in words]
        return names, np.asarray(weights[words]) * rarity[words, None]
    names = terms[words].tolist()
    region = columns.regions[0]
    scores = fitted.scores({region: [*names, ""]})
    if scores.shape[1] == 1 and weights.shape[1] == 2:
        scores = np.concatenate([-scores, scores], axis=1)
    return names, (scores[:-1] - scores[-1]) * rarity[words, None]


class _ColumnNames(Sequence[str]):
    """The names of a model's columns, each looked up when asked for."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def __getitem__(self, column: Any) -> Any:
        return in_region(*self._columns.describe(int(column)))

    def __len__(self) -> int:
        return self._columns.width


def hidden_nodes(fitted: TextModel, name: str, top: int) -> HiddenNodes:
    """The hidden nodes of each class, with their most telling terms."""
    if not offers(fitted.model, "describe"):
        raise NotSupportedError(
            "only model='hierarchical' with one label per document has hidden nodes to "
            f"describe, this is {name!r}; telling_terms() shows the words of linear "
            "models."
        )
    nodes: HiddenNodes = fitted.model.describe(_ColumnNames(fitted.columns), top=top)
    return nodes
