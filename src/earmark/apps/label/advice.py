"""What the page advises: sentences whose numbers never exceed what there is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from earmark.evaluation.learning_curve import fit_power_laws
from earmark.typing import JsonObject

__all__ = ["LITTLE", "Facts", "advice", "expected_gain", "promise_words"]

# Labels that the advice looks ahead, which gain in accuracy is little, and from how
# many checks and points on it is given.
_MORE_LABELS = 60
LITTLE = 0.01
_FEWEST_CHECKS = 20
_FEWEST_POINTS = 6


@dataclass(frozen=True)
class Facts:
    """The numbers that a project has."""

    n_open: int
    """Documents without an answer."""
    n_checks: int
    """Random checks that the estimate uses."""
    n_waiting: int
    """Answered checks that count once an earlier one is answered."""
    n_open_checks: int
    """Random checks still to ask."""
    check_share: float
    gain: float | None
    """Accuracy that some more labels bring; None: too early to say."""
    max_error: float
    n_disputed: int = 0
    has_model: bool = True
    n_to_audit: int = 0
    """Documents whose guesses an audit would check."""
    n_needed: int | None = None
    """Checks that this audit would need, if no guess is wrong."""
    n_needed_at_best: int | None = None
    """Checks needed if the guesses for all open documents were good enough."""
    audit: str = ""
    """"open": checks are asked; "holds": the promise holds; "": neither."""
    n_audited: int = 0
    """Checks of the audit so far."""
    n_wrong: int = 0
    """Those whose guess was wrong."""
    n_missing: int = 0
    """Further checks until the promise holds, if no guess is wrong."""
    n_promised: int = 0
    """Documents that the promise covers, answered since or not."""
    n_acceptable: int = 0
    """Those without an answer."""

    @property
    def limit(self) -> str:
        """The promised share of wrong answers."""
        return f"{100 * self.max_error:g} %"


def advice(facts: Facts) -> str:
    """What to do next and what it brings, in a few sentences."""
    if not facts.has_model:
        return "Label documents of at least two classes; the model learns from then on."
    sentences = []
    if facts.audit == "open":
        sentences.append(promise_words(facts))
    elif not facts.n_open:
        sentences.append("Every document has an answer: export the labels or a model.")
    else:
        is_little = facts.gain is not None and facts.gain < LITTLE
        if facts.n_acceptable:
            words = f"Accept {_counted(facts.n_acceptable, 'guess', 'guesses')} now."
            sentences += [words] if is_little else [words, _curve(facts)]
        else:
            sentences.append(_curve(facts))
            if facts.audit != "holds":
                sentences.append(promise_words(facts))
        if is_little and facts.audit == "holds" and not facts.n_acceptable:
            sentences.append("You can stop.")
    if facts.n_disputed:
        words = _counted(facts.n_disputed, "disagreement")
        sentences.append(f"{words} to resolve.")
    return " ".join(sentences)


def promise_words(facts: Facts) -> str:
    """What is promised, or what is missing."""
    if facts.audit == "holds":
        promised = _counted(facts.n_promised, "guess", "guesses")
        return (
            f"At most {facts.limit} of {promised} are wrong: {_mistakes(facts)} in "
            f"{_counted(facts.n_audited, 'check')}."
        )
    if facts.audit == "open":
        return (
            f"Only checks are asked now: {_mistakes(facts)} in "
            f"{_counted(facts.n_audited, 'check')} so far. "
            f"{_counted(facts.n_missing, 'more right guess', 'more right guesses')}, "
            f"and at most {facts.limit} of the others are wrong."
        )
    if not facts.has_model:
        return "Answer a few documents first."
    if facts.n_needed is not None:
        return (
            f"Check now: {_counted(facts.n_needed, 'answer')}, if no guess is wrong, "
            f"promise at most {facts.limit} errors among "
            f"{_counted(facts.n_to_audit - facts.n_needed, 'other document')}."
        )
    best = facts.n_needed_at_best
    if best is None or 2 * best > facts.n_open:
        few = _counted(facts.n_open, "open document")
        return (
            f"{few}: too few for a promise of {facts.limit}. The interval of the "
            "estimated accuracy says what to expect."
        )
    return (
        f"The guesses are not certain enough for a promise of {facts.limit}: label on. "
        f"It will take at least {_counted(best, 'check')}."
    )


def _curve(facts: Facts) -> str:
    """What more labels bring, or when that will be known."""
    if facts.gain is not None:
        n_more = min(_MORE_LABELS, facts.n_open)
        brings = f"about {100 * facts.gain:.1f} points"
        if facts.gain < LITTLE:
            brings = "less than 1 point"
        more = f"{_counted(n_more, 'more label')} should add {brings} of accuracy"
        return f"{more}."
    missing = max(_FEWEST_CHECKS - facts.n_checks - facts.n_waiting, 1)
    n_answers = math.ceil(missing / max(facts.check_share, 1e-9))
    if missing > facts.n_open_checks or n_answers > facts.n_open:
        return "Too few random checks are left to say what more labels would add."
    return f"After {_counted(n_answers, 'more answer')} you see what more labels add."


def expected_gain(curve: list[JsonObject], n_checks: int) -> float | None:
    """How much accuracy some more labels bring, by a power law; None: too early."""
    points = [p for p in curve if p["n_checks"] >= _FEWEST_CHECKS // 2]
    if n_checks < _FEWEST_CHECKS or len(points) < _FEWEST_POINTS:
        return None
    sizes = np.asarray([p["n_answers"] for p in points], dtype=np.float64)
    errors = np.asarray([[1 - p["accuracy"] for p in points]])
    (law,) = fit_power_laws(sizes, errors, [p["n_checks"] for p in points])
    now, then = law.error([sizes[-1], sizes[-1] + _MORE_LABELS])
    return float(max(now - then, 0.0))


def _mistakes(facts: Facts) -> str:
    if not facts.n_wrong:
        return "no wrong guess"
    return _counted(facts.n_wrong, "wrong guess", "wrong guesses")


def _counted(number: int, noun: str, several: str = "") -> str:
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
