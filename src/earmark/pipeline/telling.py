"""What a fitted TextClassifier can tell: evidence, telling terms, report, summary."""

from __future__ import annotations

from dataclasses import replace
from operator import index
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from earmark.decision.decision import Decision
from earmark.decision.guarantee import Threshold, several_words
from earmark.evaluation import Report
from earmark.exceptions import NotSupportedError
from earmark.models.hierarchical import HiddenNodes
from earmark.pipeline.build import Engine
from earmark.pipeline.confidence import ConfidenceEvidence
from earmark.pipeline.explanation import (
    Explanation,
    PathEvidence,
    explain_parts,
    in_region,
)
from earmark.pipeline.inputs import SINGLE, RegionTexts, n_documents, take
from earmark.pipeline.labels import as_target, warn_of_new_labels
from earmark.typing import FloatMatrix, Labels

__all__ = ["TellingMixin"]


class TellingMixin:
    """The methods of TextClassifier that explain and report."""

    engine_: Engine
    classes_: Labels
    evidence_: ConfidenceEvidence | None
    model_name_: str
    reasons_: list[str]
    multi_label: Any
    max_error: float | None

    @property
    def thresholds_(self) -> list[Threshold]:
        """From which confidence on it answers; empty when it always does."""
        raise AssertionError("given by TextClassifier")

    def _texts(self, X: Any, where: str = "X") -> RegionTexts:
        raise AssertionError("given by TextClassifier")

    def _decided(self, texts: RegionTexts) -> Decision:
        raise AssertionError("given by TextClassifier")

    def explain(self, X: Any, top: int = 10, paths: int = 0) -> list[Explanation]:
        """The evidence behind each label; ``top`` limits what ``str()`` shows.

        Contributions add up to the label's score minus the runner-up's; with
        several labels a document, to the likeliest label's score over its
        threshold. A higher-order model also shows up to ``paths`` chains of terms
        and training documents that lead from the document into the label's.
        """
        check_is_fitted(self)
        if index(paths) < 0:
            raise ValueError(f"paths must be at least 0, got {paths!r}.")
        texts = self._texts(X)
        proba = np.exp(self.engine_.log_probabilities(texts))
        described: dict[int, tuple[str, str | None]] = {}

        def describe(column: int) -> tuple[str, str | None]:
            if column not in described:
                described[column] = self.engine_.describe(column)
            return described[column]

        explanations = [
            explain_parts(
                parts,
                classes=self.classes_,
                label=int(row.argmax()),
                confidence=float(row.max()),
                describe=describe,
                top=top,
                against_runner_up=not self.is_multi_label_,
            )
            for parts, row in zip(self.engine_.parts(texts), proba, strict=True)
        ]
        if not paths:
            return explanations
        return [
            replace(
                explanation,
                paths=tuple(
                    PathEvidence(
                        tuple(in_region(*describe(column)) for column in path.terms),
                        path.documents,
                        path.strength,
                    )
                    for path in found
                ),
            )
            for explanation, found in zip(
                explanations, self.engine_.paths(texts, paths), strict=True
            )
        ]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the documents answered rightly; to abstain is not right.

        With several labels a document all of them must be right. Documents without a
        label in y are left out.
        """
        check_is_fitted(self)
        texts = self._texts(X)
        target = as_target(y, n_documents(texts), self.multi_label)
        answers = self._decided(take(texts, target.labelled)).labels.tolist()
        given = target.labels.tolist()
        right = [a == t for a, t in zip(answers, given, strict=True)]
        weight = None if sample_weight is None else np.asarray(sample_weight)
        kept = None if weight is None else weight[target.labelled]
        return float(np.average(right, weights=kept))

    def report(self, X: Any, y: Any, **parts: Any) -> Report:
        """What is right and wrong on texts X with true labels y.

        Keyword arguments are passed on to ``Report.from_predictions``.
        """
        check_is_fitted(self)
        texts = self._texts(X)
        target = as_target(y, n_documents(texts), self.multi_label)
        texts = take(texts, target.labelled)
        warn_of_new_labels(target.labels, self.classes_, "y")
        one_of = not target.multi_label
        thresholds = self.thresholds_ if one_of else []
        shown = ["\n".join(row) for row in zip(*texts.values(), strict=True)]
        return Report.from_predictions(
            target.labels,
            self._decided(texts).labels,
            proba=np.exp(self.engine_.log_probabilities(texts)) if one_of else None,
            classes=self.classes_ if one_of else None,
            texts=shown,
            threshold=thresholds[0].value if thresholds else None,
            top_terms=self.telling_terms(),
            **parts,
        )

    def telling_terms(self, top: int = 10) -> dict[Any, list[tuple[str, float]]] | None:
        """The terms that speak most for each class over the mean of the others.

        None for models without one weight a term and class.
        """
        check_is_fitted(self)
        weights = self.engine_.term_weights()
        if weights is None:
            return None
        found = {}
        for c, label in enumerate(self.classes_.tolist()):
            gap = _against_rest(weights, c)
            best = np.argsort(-gap, kind="stable")[:top]
            found[label] = [
                (_shown(*self.engine_.describe(int(column))), float(gap[column]))
                for column in best
                if np.isfinite(gap[column])
            ]
        return found

    def describe(self, top: int = 10) -> HiddenNodes:
        """The hidden nodes of each class: weight and ``top`` most telling terms.

        For ``model="hierarchical"``. ``print`` the result, or call its ``plot()``.
        """
        check_is_fitted(self)
        model: Any = getattr(self.engine_, "model_", None)
        if not hasattr(model, "describe"):
            raise NotSupportedError(
                "only model='hierarchical' with one label a document has hidden nodes "
                f"to describe, this is {self.model_name_!r}; telling_terms() shows "
                "the words of linear models."
            )
        nodes: HiddenNodes = model.describe(_ColumnNames(self.engine_, model), top=top)
        return nodes

    @property
    def is_multi_label_(self) -> bool:
        """Whether a document may have several labels."""
        return bool(self.engine_.multi_label)

    @property
    def region_names_(self) -> list[str] | None:
        """The regions the model was trained on; None for a single text."""
        names = self.engine_.region_names
        return None if names == [SINGLE] else names

    def summary(self) -> str:
        """What was chosen, why, and what was used, in plain words."""
        check_is_fitted(self)
        lines = [f"model: {self.model_name_}", *self.reasons_]
        if self.evidence_ is not None:
            kind = "held-out" if self.evidence_.held_out else "left-out training"
            n = len(self.evidence_.correct) // self.evidence_.n_labels
            each = ", label by label" if self.evidence_.n_labels > 1 else ""
            lines.append(
                f"accuracy {self.evidence_.accuracy:.3f} on {n:,} {kind} "
                f"documents{each}"
            )
        if self.max_error is not None and self.evidence_ is None:
            lines.append(
                f"max_error {self.max_error:g}: not known from where on it holds; call "
                "measure_confidence"
            )
        elif self.thresholds_:
            lines.append(several_words(self.thresholds_))
        table = getattr(getattr(self.engine_, "model_", None), "region_table", None)
        if table is not None and len(self.engine_.region_names) > 1:
            lines.append(table(self.engine_.region_names))
        return "\n".join(lines)


class _ColumnNames:
    """The names of a model's columns, each looked up when asked for."""

    def __init__(self, engine: Engine, model: Any) -> None:
        self._engine = engine
        self._length = int(model.n_features_in_)

    def __getitem__(self, column: int) -> str:
        return _shown(*self._engine.describe(int(column)))

    def __len__(self) -> int:
        return self._length


def _against_rest(weights: FloatMatrix, c: int) -> Any:
    if weights.shape[1] == 1:
        return weights[:, 0]
    rest = (weights.sum(axis=1) - weights[:, c]) / (weights.shape[1] - 1)
    return weights[:, c] - rest


def _shown(term: str, region: str | None) -> str:
    return term if region is None else f"{region}: {term}"
