"""scikit-learn's linear models, as model files hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from sklearn import linear_model, preprocessing, svm

from earmark.stored import (
    DERIVED,
    OPTIONAL,
    describe,
    either,
    flag,
    floats,
    instance,
    integers,
    labels,
    none,
    number,
    optional,
    size,
    text,
    whole,
)

_Coef = Annotated[Any, floats("n_machines", "n_features")]
_Intercept = Annotated[Any, floats("n_machines")]
_LINEAR: dict[str, Any] = {
    "classes_": Annotated[Any, labels("n_classes")],
    "n_features_in_": Annotated[int, size("n_features")],
    "coef_": _Coef,
    "intercept_": Annotated[Any, either(floats("n_machines"), number())],
    "_sklearn_version": Annotated[Any, DERIVED],
}


def _machines(model: Any, sizes: Mapping[str, int]) -> Iterator[str]:
    """Report a wrong number of machines: one for two classes, else one for each."""
    n_classes = sizes["n_classes"]
    needed = 1 if n_classes == 2 else n_classes
    # RidgeClassifier has a plain vector of weights for two classes.
    if n_classes < 2 or sizes.get("n_machines", 1) != needed:
        yield " must have weights for each class"


describe(svm.LinearSVC, {**_LINEAR, "n_iter_": int}, _machines)
describe(
    linear_model.LogisticRegression,
    {**_LINEAR, "n_iter_": Annotated[Any, integers(None)]},
    _machines,
)
describe(
    preprocessing.LabelBinarizer,
    {
        "classes_": Annotated[Any, labels("n_classes")],
        "sparse_input_": Annotated[bool, flag],
        "y_type_": Annotated[str, text("binary", "multiclass")],
        "_sklearn_version": Annotated[Any, DERIVED],
    },
)
describe(
    linear_model.RidgeClassifier,
    {
        **_LINEAR,
        "coef_": Annotated[
            Any, either(floats("n_machines", "n_features"), floats("n_features"))
        ],
        "_label_binarizer": Annotated[
            Any, instance(preprocessing.LabelBinarizer, n_classes="n_classes")
        ],
        "n_iter_": Annotated[Any, optional(integers(None))],
        "solver_": str,
    },
    _machines,
)
describe(
    linear_model.SGDClassifier,
    {
        **_LINEAR,
        "n_iter_": Annotated[int, whole()],
        "t_": Annotated[float, number(0)],
        "_expanded_class_weight": Annotated[Any, floats("n_classes", low=0), OPTIONAL],
        "loss_function_": Annotated[Any, none, OPTIONAL],
        **{
            name: Annotated[Any, floats("n_machines", "n_features"), OPTIONAL]
            for name in ("_average_coef", "_standard_coef", "average_coef_")
        },
        **{
            name: Annotated[Any, floats("n_machines"), OPTIONAL]
            for name in (
                "_average_intercept",
                "_standard_intercept",
                "average_intercept_",
            )
        },
        "_loss_function_": Annotated[Any, DERIVED],  # made again when it is needed
    },
    _machines,
)
CLASSES: tuple[type, ...] = (
    preprocessing.LabelBinarizer,  # a part of RidgeClassifier
    svm.LinearSVC,
    linear_model.LogisticRegression,
    linear_model.RidgeClassifier,
    linear_model.SGDClassifier,
)
