"""A promise about guesses that nobody has read, tested after every answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from earmark.pipeline.labelling.learners import Answers
from earmark.typing import FloatVector, IntVector, JsonObject

__all__ = ["Audit", "Grant", "Standing", "fewest_checks", "log_evidence", "risk_of"]

# What is believed of the error rate before the first check is a beta distribution with
# this first parameter and a mean of about a fifth of the limit.
_FIRST = 1.0
_SECOND = 5.0
# The first audit spends so much of the risk, each later one so much of the rest.
_SPENT = 0.8
_AT_ONCE = 2000
# An audit that needs so many times the checks of one without a wrong guess is given up:
# the model learns more from them.
_PATIENCE = 3.5


def log_evidence(
    n_documents: IntVector, n_checked: IntVector, n_wrong: IntVector, max_error: float
) -> FloatVector:
    """Log evidence that at most ``max_error`` of the unread guesses are wrong.

    Documents are drawn without replacement, so the chance of what the checks showed is
    known for each number M of wrong guesses; the chance under a beta-binomial mixture,
    divided by that of the true M, is a nonnegative martingale with mean 1, which ever
    reaches 1 / risk with a probability of at most the risk (Ville). The promise is
    given only where this ratio is that large for each M that would break it, hence for
    the true M if that would; the least such M is the hardest to reject, as the
    likelihood of M falls beyond its maximum.
    """
    n, t, s = (
        np.asarray(x, dtype=np.float64) for x in (n_documents, n_checked, n_wrong)
    )
    left = n - t
    # The least number of wrong guesses that breaks the promise for those left.
    least = np.floor(max_error * left + 1e-9) + s + 1
    rights_left = n - least - (t - s)
    usual = np.maximum(rights_left, 0.0)
    log_chance = (
        special.gammaln(least + 1)
        - special.gammaln(least - s + 1)
        + special.gammaln(usual + t - s + 1)
        - special.gammaln(usual + 1)
        - special.gammaln(n + 1)
        + special.gammaln(left + 1)
    )
    second = _SECOND / max_error
    mixture = special.betaln(_FIRST + s, second + t - s)
    evidence = mixture - special.betaln(_FIRST, second) - log_chance
    evidence = np.where(s * n > least * t, -np.inf, evidence)
    # Fewer right ones than were seen, or all that is left read: it cannot be broken.
    log_ratio: FloatVector = np.where(rights_left < 0, np.inf, evidence)
    return log_ratio


def risk_of(number: int, level: float) -> float:
    """What the audit of this number may spend of the risk; all together spend less."""
    return (1 - level) * _SPENT * (1 - _SPENT) ** (number - 1)


def fewest_checks(
    n_documents: int,
    max_error: float,
    risk: float,
    n_checked: int = 0,
    n_wrong: int = 0,
) -> int | None:
    """How many checks bring the promise if all further ones are right; None: none do.

    Those already made are counted. One document at least must be left.
    """
    for start in range(max(n_checked, 1), n_documents, _AT_ONCE):
        checked = np.arange(start, min(start + _AT_ONCE, n_documents))
        n, wrong = np.full_like(checked, n_documents), np.full_like(checked, n_wrong)
        evidence = log_evidence(n, checked, wrong, max_error)
        enough = np.flatnonzero(evidence >= -np.log(risk))
        if len(enough):
            return int(checked[enough[0]])
    return None


@dataclass(frozen=True)
class Grant:
    """Guesses that come with the promise, as they were when the model was frozen."""

    documents: IntVector
    """Whose guesses."""
    guesses: tuple[tuple[str, ...], ...]
    """One per document."""
    n_learned: int
    """Documents learned from by then."""


@dataclass(frozen=True)
class Standing:
    """What the checks of an audit have come to."""

    n_documents: int
    """Documents with a guess of the frozen model, checked or not."""
    n_checked: int = 0
    n_wrong: int = 0
    n_missing: int | None = None
    """Further checks until the promise holds, if all are right; None: out of reach."""
    holds: bool = False
    """Whether the promise holds for the documents that are not checked."""

    @property
    def is_over(self) -> bool:
        """Whether more checks change nothing."""
        return self.holds or self.n_missing is None


@dataclass(frozen=True)
class Audit:
    """Guesses of a frozen model, checked in a random order until they are trusted."""

    documents: IntVector
    """In the random order in which they are checked."""
    guesses: tuple[tuple[str, ...], ...]
    """Of the frozen model, one per document."""
    n_learned: int
    """Documents it learned from."""
    max_error: float
    risk: float
    """The probability with which a broken promise may be given."""
    number: int = 1
    """Of the audits of this project."""

    def standing(self, answers: Answers, skipped: Collection[int] = ()) -> Standing:
        """How far the checks have come: the answered beginning of the order."""
        n_left_out, checked = 0, []
        rows: list[tuple[int, int, int]] = []
        n_wrong = 0
        for document, guess in zip(self.documents.tolist(), self.guesses, strict=True):
            if document in skipped:
                n_left_out += 1
            elif document in answers:
                checked.append(document)
                n_wrong += set(answers[document]) != set(guess)
            else:
                break
            rows.append((len(self.documents) - n_left_out, len(checked), n_wrong))
        n, t, s = np.asarray(rows or [(len(self.documents), 0, 0)]).T
        evidence = log_evidence(n, t, s, self.max_error)
        enough = np.flatnonzero((evidence >= -np.log(self.risk)) & (t > 0) & (t < n))
        if len(enough):  # later checks do not take it back
            at = enough[0]
            return Standing(int(n[at]), int(t[at]), int(s[at]), 0, True)
        now = int(n[-1]), int(t[-1]), int(s[-1])
        needed = fewest_checks(now[0], self.max_error, self.risk, *now[1:])
        usual = fewest_checks(now[0], self.max_error, self.risk)
        if needed is None or usual is None or needed > _PATIENCE * usual:
            return Standing(*now)
        return Standing(*now, needed - now[1])

    def open_documents(self, answers: Answers, skipped: Collection[int]) -> list[int]:
        """Documents still to check, in their order."""
        order = self.documents.tolist()
        return [d for d in order if d not in answers and d not in skipped]

    def grant(self, answers: Answers, skipped: Collection[int] = ()) -> Grant | None:
        """The guesses that nobody has read, once the promise holds for them."""
        standing = self.standing(answers, skipped)
        if not standing.holds:
            return None
        n_read = 0
        for place, document in enumerate(self.documents.tolist()):
            n_read += document in answers and document not in skipped
            if n_read == standing.n_checked:
                rest = slice(place + 1, None)
                left = self.documents[rest], self.guesses[rest]
                return Grant(*left, self.n_learned)
        return None

    def renamed(self, old: Sequence[str], new: str) -> Audit:
        """With other names for labels; merged ones make no right guess wrong."""
        guesses = [
            tuple(dict.fromkeys(new if name in old else name for name in guess))
            for guess in self.guesses
        ]
        return replace(self, guesses=tuple(guesses))

    def to_dict(self) -> JsonObject:
        """Plain data, to keep."""
        return {
            "documents": self.documents.tolist(),
            "guesses": [list(guess) for guess in self.guesses],
            "n_learned": self.n_learned,
            "max_error": self.max_error,
            "risk": self.risk,
            "number": self.number,
        }

    @classmethod
    def from_dict(cls, stored: JsonObject) -> Audit:
        """What ``to_dict`` kept."""
        rest = ("n_learned", "max_error", "risk", "number")
        return cls(
            np.asarray(stored["documents"], dtype=np.int64),
            tuple(tuple(guess) for guess in stored["guesses"]),
            *(stored[name] for name in rest),
        )
