"""The parameters of SemiSupervisedClassifier: checked, and turned into a recipe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from earmark._checks import require_in_range, require_integer, require_one_of
from earmark.models.semi_supervised._features import WORD
from earmark.models.semi_supervised._recipe import LONG, SHORT, SHORT_TEXT, Recipe
from earmark.typing import IntVector

__all__ = ["check_parameters", "choose_recipe", "column_kinds"]


def check_parameters(model: Any) -> None:
    """Refuse what cannot work, before anything is learned."""
    require_in_range(model, "prior_correction", low=0.0)
    require_in_range(model, "min_pool_ratio", low=0.0)
    require_one_of(model, "recipe", ("auto", "long", "short"))
    require_integer(model, "min_pool", low=1)
    require_integer(model, "calibration_folds", low=0)
    require_integer(model, "n_components", low=1)
    require_integer(model, "min_df", low=1)
    if model.n_steps is not None:
        require_integer(model, "n_steps", low=1)
    if model.pool_weight is not None:
        require_in_range(model, "pool_weight", low=0.0, open_low=True)
    if isinstance(model.views, str) and model.views != "auto":
        raise ValueError(
            "SemiSupervisedClassifier.views must be 'auto' or a tuple of views, "
            f"got {model.views!r}."
        )


def column_kinds(kinds: Any, n_columns: int) -> IntVector:
    """What each column is; all are words if nothing is said."""
    if kinds is None:
        return np.full(n_columns, WORD)
    given = np.asarray(kinds)
    if given.shape != (n_columns,):
        raise ValueError(
            f"SemiSupervisedClassifier.kinds must name {n_columns} columns, "
            f"got {given.shape}."
        )
    return given


def choose_recipe(model: Any, mean_tokens: float) -> Recipe:
    """Long or short by mean tokens a document; views and steps as asked for."""
    is_short = mean_tokens < SHORT_TEXT if model.recipe == "auto" else None
    recipe = SHORT if is_short or model.recipe == "short" else LONG
    wanted = recipe.views if isinstance(model.views, str) else tuple(model.views)
    if isinstance(model.views, str) and model.terms is None:
        wanted = tuple(name for name in wanted if name != "subword")
    return replace(
        recipe,
        views=wanted,
        n_steps=recipe.n_steps if model.n_steps is None else model.n_steps,
        pool_weight=(
            recipe.pool_weight if model.pool_weight is None else model.pool_weight
        ),
        supervised_weight=recipe.supervised_weight if "tfidf" in wanted else 0.0,
    )
