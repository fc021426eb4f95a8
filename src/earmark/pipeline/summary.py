"""Every sentence of ``TextClassifier.summary``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from earmark.decision.evidence import Evidence
from earmark.decision.guarantee import (
    accuracy_words,
    several_words,
    words_per_label,
)

if TYPE_CHECKING:
    from earmark.pipeline.text_classifier import TextClassifier

_LABELS_TOLD = 20  # labels whose promise is told one by one
# A tuned encoder is offered below this accuracy, with so many labels per class.
_LOW, _ENOUGH = 0.7, 20


def summary_of(classifier: TextClassifier) -> str:
    """What was chosen, why, and what was used, in plain words."""
    lines = [f"model: {classifier.model_name_}", *classifier.reasons_]
    evidence = classifier.evidence_
    if evidence is not None:
        lines.append(_accuracy(evidence))
        lines += _offer(classifier, evidence)
    lines += _promise(classifier)
    if classifier.learned_confidence_ is not None:
        lines.append(classifier.learned_confidence_.words)
    elif (
        classifier.learn_confidence
        and evidence is not None
        and not classifier.is_multi_label_
    ):
        lines.append("confidence: log-odds; nothing was learned that ranks better")
    if classifier.novelty_ is not None:
        lines.append(classifier.novelty_.words(classifier.max_novelty))
    regions = classifier.region_names_
    table = getattr(classifier.model_, "region_table", None)
    if table is not None and regions is not None and len(regions) > 1:
        lines.append(table(regions))
    return "\n".join(lines)


def _accuracy(evidence: Evidence) -> str:
    """How often answers to unseen documents were right."""
    kind = "held-out" if evidence.held_out else "left-out training"
    if evidence.about_labels:  # decisions about one document depend on each other
        n = len(evidence) // evidence.n_groups
        words = f"accuracy {evidence.accuracy:.3f} on {n:,} {kind} documents"
        words += ", label by label"
    else:
        documents = "document" if len(evidence) == 1 else "documents"
        words = accuracy_words(
            int(evidence.correct.sum()),
            len(evidence),
            f"{kind} {documents}",
            evidence.accuracy,
            evidence.n_independent,
        )
        if evidence.weight is not None:
            words += ", weighed as the classes are without labels"
    return f"{words}{_lot(evidence)}{_copies(evidence)}"


def _offer(classifier: TextClassifier, evidence: Evidence) -> list[str]:
    """An encoder that is tuned to the labels, where one is worth its time."""
    per_class = len(evidence) / max(len(classifier.classes_), 1)
    low = evidence.accuracy < _LOW and per_class >= _ENOUGH
    if not low or classifier.is_multi_label_ or classifier.columns_.encoder is None:
        return []
    return [
        "a sentence encoder tuned to the labels may do better: see tune_encoder in "
        "the how-to on encoders"
    ]


def _lot(evidence: Evidence) -> str:
    """How many documents there were, if not all were judged."""
    if not evidence.n_drawn_from:
        return ""
    return (
        f", drawn by lot from {evidence.n_drawn_from:,}, since there are so many "
        "classes"
    )


def _promise(classifier: TextClassifier) -> list[str]:
    """What ``max_error`` comes to, label by label where each has its threshold."""
    if classifier.max_error is not None and classifier.evidence_ is None:
        return [
            f"max_error {classifier.max_error:g}: not known from where on it holds; "
            "call measure_confidence"
        ]
    thresholds = classifier.thresholds_
    if not thresholds:
        return []
    lines = [several_words(thresholds)]
    if classifier.is_multi_label_:
        some = slice(_LABELS_TOLD)
        known = classifier.classes_[some].tolist()
        lines.append(words_per_label(thresholds[some], known))
    return lines


def _copies(evidence: Evidence) -> str:
    """What to say of near-duplicates that are no evidence of their own."""
    if not evidence.n_copies:
        return ""
    copies = "near-duplicate" if evidence.n_copies == 1 else "near-duplicates"
    if evidence.distinct is None:
        return f"; without {evidence.n_copies:,} {copies} of others"
    own = evidence.correct[evidence.distinct]
    return (
        f"; {evidence.n_copies:,} repeat others, and of the rest "
        f"{own.mean():.3f} are right"
    )
