"""What a model file tells about itself, as Markdown or as one HTML page.

The words are in ``card.j2``; ``markdown.j2`` and ``html.j2`` say how each of the two
writes headings, lists and tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from earmark.decision.guarantee import several_words
from earmark.evaluation import Report, accuracy_coverage, wilson_interval
from earmark.models.registry import MODELS
from earmark.persistence import ModelInfo
from earmark.pipeline import TextClassifier
from earmark.pipeline.files import load_with_info
from earmark.typing import JsonObject

__all__ = ["CardFacts", "front_matter", "to_html", "to_markdown"]

_TARGETS = (0.9, 0.95, 0.99)
_FEW = 10
_SPECIAL = re.compile(r"([\\|*_\[\]<>#])")


@dataclass(frozen=True)
class Evaluation:
    """Accuracy of the model on documents it had not seen, as stored in the file."""

    n_answers: int
    """Documents, or with several labels per document the decisions about labels."""
    held_out: bool
    accuracy: float
    low: float
    high: float
    gap: float | None
    """Mean confidence less accuracy; None with several labels per document."""
    rows: list[tuple[str, str]]
    """Accuracy wanted, and the share of the documents that can be answered so."""


@dataclass(frozen=True)
class Test:
    """Accuracy on labelled documents that were given for the card."""

    source: str
    n_answers: int
    accuracy: float
    low: float
    high: float
    macro_f1: float


@dataclass(frozen=True)
class CardFacts:
    """Everything a card says, before it is put into words."""

    name: str
    info: ModelInfo
    model: str
    summary: str
    """What the model is, in a line."""
    classes: tuple[str, ...]
    is_multi_label: bool
    regions: tuple[str, ...]
    settings: list[tuple[str, str]]
    """Constructor parameters that are not the default."""
    training: dict[str, Any]
    """As ``earmark train`` recorded it; empty when the model was made in Python."""
    evaluation: Evaluation | None
    promise: str | None
    terms: list[tuple[str, str]]
    """The words that speak most for each class; empty if the model has none."""
    test: Test | None = None

    @classmethod
    def from_file(cls, path: Path, n_terms: int = 8) -> CardFacts:
        """Read a model file and gather what it says."""
        classifier, info = load_with_info(path)
        name = classifier.model_name_
        spec = MODELS.get(name)
        terms = classifier.telling_terms(n_terms) if n_terms else None
        promises = classifier.max_error is not None and classifier.evidence_ is not None
        return cls(
            name=path.name,
            info=info,
            model=name,
            summary="a classifier of your own" if spec is None else spec.summary,
            classes=tuple(map(str, classifier.classes_.tolist())),
            is_multi_label=classifier.is_multi_label_,
            regions=tuple(classifier.region_names_ or ()),
            settings=_settings(classifier),
            training=dict(info.metadata.get("training_data", {})),
            evaluation=_evaluation(classifier),
            promise=several_words(classifier.thresholds_) if promises else None,
            terms=[
                (str(label), ", ".join(word for word, _ in words))
                for label, words in (terms or {}).items()
            ],
        )

    @property
    def counts(self) -> list[tuple[str, str]]:
        """Labelled documents per class, the largest class first."""
        counts = self.training["classes"].items()
        ordered = sorted(counts, key=lambda item: (-item[1], item[0]))
        return [(label, f"{n:,}") for label, n in ordered]

    @property
    def rare(self) -> list[str]:
        """Classes with few labelled documents."""
        counts = self.training.get("classes", {})
        return sorted(label for label, n in counts.items() if n < _FEW)

    def tested(self, report: Report, source: str) -> CardFacts:
        """With the figures of a report on test documents."""
        if report.multi_label is not None:  # right: every label of a document
            scores, n = report.multi_label, report.n_documents
            right, f1 = scores.subset_accuracy, scores.macro.f1
        else:
            assert report.confusion is not None
            matrix = report.confusion
            n, right, f1 = matrix.n_answered, matrix.accuracy, matrix.macro.f1
        low, high = wilson_interval(round(right * n), n) if n else (0.0, 1.0)
        test = Test(source, n, right if n else 0.0, float(low), float(high), f1)
        return replace(self, test=test)


def _settings(classifier: TextClassifier) -> list[tuple[str, str]]:
    default = TextClassifier().get_params(deep=False)
    return [
        (f"setting `{key}`", str(value))
        for key, value in sorted(classifier.get_params(deep=False).items())
        if key not in ("n_jobs", "verbose") and str(value) != str(default[key])
    ]


def _evaluation(classifier: TextClassifier) -> Evaluation | None:
    evidence = classifier.evidence_
    if evidence is None or not len(evidence.correct):
        return None
    right, n = int(evidence.correct.sum()), len(evidence.correct)
    low, high = wilson_interval(right, n)
    # Only right or wrong is stored, not the labels: that is all the curve needs.
    answered = np.where(evidence.correct, "right", "wrong")
    curve = accuracy_coverage(["right"] * n, answered, evidence.certainty)
    gap = None
    if not classifier.is_multi_label_:
        gap = float(evidence.confidence.mean()) - right / n
    shares = {target: curve.coverage_at(target) for target in _TARGETS}
    return Evaluation(
        n_answers=n,
        held_out=bool(evidence.held_out),
        accuracy=right / n,
        low=float(low),
        high=float(high),
        gap=gap,
        rows=[
            (f"{100 * target:.1f} %", f"{100 * share:.1f} %" if share else "none")
            for target, share in shares.items()
        ],
    )


def front_matter(facts: CardFacts, licence: str | None = None) -> JsonObject:
    """What model hubs read at the top of a card."""
    front: JsonObject = {"library_name": "earmark", "tags": ["earmark", facts.model]}
    front["pipeline_tag"] = "text-classification"
    if licence is not None:
        front["license"] = licence
    figures = facts.test or facts.evaluation
    if figures is not None:
        on = "test documents" if facts.test else "documents left out of fitting"
        metric = {
            "type": "accuracy",
            "value": round(figures.accuracy, 4),
            "name": f"accuracy on {on}",
        }
        source = facts.test.source if facts.test else facts.training.get("source")
        data = {"name": str(source or "own data"), "type": "text"}
        task = {"type": "text-classification"}
        result = {"task": task, "dataset": data, "metrics": [metric]}
        front["model-index"] = [{"name": facts.name, "results": [result]}]
    return front


def to_markdown(
    facts: CardFacts,
    intended_use: str | None = None,
    about: Mapping[str, str] | None = None,
    front: Mapping[str, object] | None = None,
) -> str:
    """The card as Markdown; whatever comes from the model is escaped.

    ``about`` is said of the model by its maker: date, licence, contact. ``front`` is
    put before it as the front matter that model hubs read: JSON, which is YAML too.
    """
    text = _render("markdown.j2", facts, intended_use, about, _as_markdown)
    text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    if front is None:
        return text
    lines = [f"{name}: {json.dumps(value)}" for name, value in front.items()]
    return "\n".join(["---", *lines, "---", "", text])


def to_html(
    facts: CardFacts,
    intended_use: str | None = None,
    about: Mapping[str, str] | None = None,
) -> str:
    """The card as one page: no script, no font, no picture from elsewhere."""
    return _render("html.j2", facts, intended_use, about, _as_html).strip() + "\n"


def _render(
    shape: str,
    facts: CardFacts,
    intended_use: str | None,
    about: Mapping[str, str] | None,
    inline: Callable[[Any], str],
) -> str:
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        autoescape=shape == "html.j2",
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader("earmark.apps.card", ""),
    )
    environment.filters["inline"] = inline
    return environment.get_template("card.j2").render(
        shape=shape, f=facts, intended_use=intended_use, about=about or {}
    )


def _as_markdown(text: Any) -> str:
    """Text that Markdown shows as it is; `code` in our own sentences stays."""
    pieces = " ".join(str(text).split()).split("`")
    if len(pieces) % 2 == 0:  # a lone backtick is no code
        return _SPECIAL.sub(r"\\\1", "'".join(pieces))
    pieces[::2] = [_SPECIAL.sub(r"\\\1", piece) for piece in pieces[::2]]
    pieces[1::2] = [piece.replace("|", "\\|") for piece in pieces[1::2]]
    return "`".join(pieces)


def _as_html(text: Any) -> str:
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
