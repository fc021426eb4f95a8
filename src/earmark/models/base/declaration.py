"""What is known of a model before it is made: each model's file declares its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from earmark.parameters import offers
from earmark.registry import Registry
from earmark.typing import Estimator, Kind

Fed: TypeAlias = Literal["counts", "tfidf", "whole"]


@dataclass(frozen=True)
class Model:
    """One name of ``TextClassifier(model=...)``."""

    name: str
    """That of its module or its entry point, with ``-`` for ``_``."""
    make: Callable[..., Estimator]
    """The class, or a function that imports and builds the estimator."""
    summary: str
    """One line for ``--help``, ``earmark info --models`` and the tables of the docs."""
    fed: Fed = "counts"
    """What it is fitted on; "whole": tf-idf by the length of the whole document."""
    views: tuple[Kind, ...] = ()
    """The views of a document that it takes apart, words first; none: one matrix."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Constructor parameters that differ under this name."""
    takes: tuple[str, ...] = ()
    """Constructor parameters among random_state, n_jobs and verbose."""
    columns_from_pool: bool = False
    """Whether the words of unlabelled documents become columns too."""

    @property
    def encodes(self) -> bool:
        """Whether it takes the vectors of an encoder."""
        return "vector" in self.views

    @property
    def in_parts(self) -> bool:
        """Whether ``earmark.distributed`` fits it: in parts, or to a sample of them."""
        return offers(self.make, "fit_in_parts") or bool(self.views)

    @property
    def updates(self) -> bool:
        """Whether documents can be learned and forgotten exactly once it is saved."""
        return bool(getattr(self.make, "by_term", False))

    def build(self, **options: Any) -> Estimator:
        """A new estimator; of these options it gets those that it takes."""
        passed = {name: options[name] for name in self.takes}
        return self.make(**{**self.defaults, **passed})


MODELS: Registry[Model] = Registry("earmark.models", "earmark.models", "MODEL")


def model_of(model: str | Estimator) -> Model:
    """What is known of a model by name, or of any classifier; fed tf-idf if unknown."""
    if isinstance(model, str):
        declared = MODELS.get(model)
        if declared is None:
            listed = ", ".join(["auto", *MODELS.names()])
            raise ValueError(
                f"TextClassifier.model must be an estimator or one of {listed}; "
                f"got {model!r}."
            )
        return declared
    kind = type(model)
    declared = getattr(sys.modules.get(kind.__module__), "MODEL", None)
    if isinstance(declared, Model) and declared.make is kind:
        return replace(declared, name=kind.__name__)
    return Model(kind.__name__, lambda: model, "", fed="tfidf")
