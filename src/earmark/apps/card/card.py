"""What a model file tells about itself, as Markdown or as one HTML page.

The words are in ``card.j2``; ``markdown.j2`` and ``html.j2`` say how each of the two
writes headings, lists and tables.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from earmark.apps.harmless import harmless
from earmark.decision.guarantee import several_words
from earmark.evaluation import Report, accuracy_coverage
from earmark.evaluation.significance import wilson_interval
from earmark.models.base.declaration import MODELS
from earmark.pipeline import TextClassifier
from earmark.pipeline.files import load_with_info
from earmark.typing import JsonObject

__all__ = ["card_facts", "front_matter", "to_html", "to_markdown"]

_TARGETS = (0.9, 0.95, 0.99)
_FEW = 10
# What Markdown may take for markup, anywhere or at the beginning of a line.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!]|:(?=//)|(?<=www)\.|^[-+=])")
_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")


def card_facts(
    path: Path, n_terms: int = 8, test: tuple[Report, str] | None = None
) -> JsonObject:
    """Everything a card says; ``test`` is a report on documents and their source."""
    classifier, info = load_with_info(path)
    name = classifier.model_name_
    spec = MODELS.get(name)
    terms = classifier.telling_terms(n_terms) if n_terms else None
    promises = classifier.max_error is not None and classifier.evidence_ is not None
    # As ``earmark train`` recorded it; empty when the model was made in Python.
    training = dict(info.metadata.get("training_data", {}))
    counts = sorted(training.get("classes", {}).items(), key=lambda c: (-c[1], c[0]))
    return {
        "name": path.name,
        "info": info,
        "model": name,
        "summary": "a classifier of your own" if spec is None else spec.summary,
        "classes": list(map(str, classifier.classes_.tolist())),
        "is_multi_label": classifier.is_multi_label_,
        "regions": classifier.region_names_ or [],
        "settings": _settings(classifier),
        "training": training,
        "counts": [(label, f"{n:,}") for label, n in counts],
        "rare": sorted(label for label, n in counts if n < _FEW),
        "evaluation": _evaluation(classifier),
        "promise": several_words(classifier.thresholds_) if promises else None,
        "terms": [
            (str(label), ", ".join(word for word, _ in words))
            for label, words in (terms or {}).items()
        ],
        "test": None if test is None else _tested(*test),
    }


def _settings(classifier: TextClassifier) -> list[tuple[str, str]]:
    """Constructor parameters that are not the default."""
    default = TextClassifier().get_params(deep=False)
    return [
        (f"setting {key}", str(value))
        for key, value in sorted(classifier.get_params(deep=False).items())
        if key not in ("n_jobs", "verbose") and str(value) != str(default[key])
    ]


def _evaluation(classifier: TextClassifier) -> JsonObject | None:
    """Accuracy on unseen documents, and the share answered at higher accuracies."""
    evidence = classifier.evidence_
    if evidence is None or not len(evidence.correct):
        return None
    right, n = int(evidence.correct.sum()), len(evidence.correct)
    # Only right or wrong is stored, not the labels: that is all the curve needs.
    answered = np.where(evidence.correct, "right", "wrong")
    curve = accuracy_coverage(["right"] * n, answered, evidence.certainty)
    gap = None  # mean confidence less accuracy, where answers are one label each
    if not classifier.is_multi_label_:
        gap = float(evidence.confidence.mean()) - right / n
    shares = {target: curve.coverage_at(target) for target in _TARGETS}
    rows = [
        (f"{100 * target:.1f} %", f"{100 * share:.1f} %" if share else "none")
        for target, share in shares.items()
    ]
    held_out = bool(evidence.held_out)
    return {**_figures(right / n, n), "held_out": held_out, "gap": gap, "rows": rows}


def _tested(report: Report, source: str) -> JsonObject:
    """Accuracy on labelled documents that were given for the card."""
    if report.multi_label is not None:  # right: every label of a document
        scores, n = report.multi_label, report.n_documents
        right, f1 = scores.subset_accuracy, scores.macro.f1
    else:
        assert report.confusion is not None
        matrix = report.confusion
        n, right, f1 = matrix.n_answered, matrix.accuracy, matrix.macro.f1
    return {**_figures(right, n), "source": source, "macro_f1": f1}


def _figures(accuracy: float, n: int) -> JsonObject:
    """An accuracy, its interval and the number of answers (documents, or labels)."""
    low, high = map(float, wilson_interval(round(accuracy * n), n)) if n else (0.0, 1.0)
    share = accuracy if n else 0.0
    return {"n_answers": n, "accuracy": share, "low": low, "high": high}


def front_matter(facts: JsonObject, licence: str | None = None) -> JsonObject:
    """What model hubs read at the top of a card."""
    front: JsonObject = {"library_name": "earmark", "tags": ["earmark", facts["model"]]}
    front["pipeline_tag"] = "text-classification"
    if licence is not None:
        front["license"] = licence
    test = facts["test"]
    figures = test or facts["evaluation"]
    if figures is not None:
        on = "test documents" if test else "documents left out of fitting"
        accuracy = round(figures["accuracy"], 4)
        metric = {"type": "accuracy", "value": accuracy, "name": f"accuracy on {on}"}
        source = test["source"] if test else facts["training"].get("source")
        data = {"name": str(source or "own data"), "type": "text"}
        task = {"type": "text-classification"}
        result = {"task": task, "dataset": data, "metrics": [metric]}
        front["model-index"] = [{"name": facts["name"], "results": [result]}]
    return front


def to_markdown(
    facts: JsonObject,
    intended_use: str | None = None,
    about: Mapping[str, str] | None = None,
    front: Mapping[str, object] | None = None,
) -> str:
    """The card as Markdown; whatever comes from the model is escaped.

    ``about`` is said of the model by its maker: date, licence, contact. ``front`` is
    put before it as the front matter that model hubs read: JSON, which is YAML too.
    """
    text = _render("markdown.j2", facts, intended_use, about, _as_markdown, str)
    text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    if front is None:
        return text
    lines = [f"{name}: {json.dumps(value)}" for name, value in front.items()]
    return "\n".join(["---", *lines, "---", "", text])


def to_html(
    facts: JsonObject,
    intended_use: str | None = None,
    about: Mapping[str, str] | None = None,
) -> str:
    """The card as one page: no script, no font, no picture from elsewhere."""
    filters = str, _with_code
    return _render("html.j2", facts, intended_use, about, *filters).strip() + "\n"


def _render(
    shape: str,
    facts: JsonObject,
    intended_use: str | None,
    about: Mapping[str, str] | None,
    inline: Callable[[Any], str],
    own: Callable[[Any], str],
) -> str:
    """The card; ``inline`` writes what may come from data, ``own`` our sentences."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        autoescape=shape == "html.j2",
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader("earmark.apps.card", ""),
    )
    environment.filters |= {"inline": inline, "own": own, "shell": _in_shell}
    environment.filters["summary"] = _summary
    return environment.get_template("card.j2").render(
        shape=shape, f=facts, intended_use=intended_use, about=about or {}
    )


def _as_markdown(text: Any) -> str:
    """Text that Markdown shows as it is, whatever it holds."""
    plain = harmless(" ".join(str(text).split()))
    return _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", plain))


def _summary(name: Any) -> str:
    """Python that prints what a model says about itself."""
    return f"import earmark; print(earmark.load({json.dumps(str(name))}).summary())"


def _in_shell(name: Any) -> str:
    """A name in a command that can be copied: on one line, and quoted."""
    plain = harmless(str(name)).replace("\n", " ").replace("`", "?")
    return shlex.quote(plain)


def _with_code(text: Any) -> str:
    """A sentence of our own with `code` in HTML."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
