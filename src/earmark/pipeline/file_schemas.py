"""What each class in a model file must look like, checked before it is made.

A class that has no schema here is not read from a file, and an attribute that its
schema does not know is refused: whoever adds either adds it here. Sizes with one name
are one size (``earmark.persistence.schema``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from itertools import pairwise
from operator import methodcaller
from typing import Any

import numpy as np

from earmark import decision
from earmark.encoders.by_name import parse_name
from earmark.exceptions import DataError
from earmark.features.analysis import Analysis
from earmark.models.semi_supervised.features import VECTOR
from earmark.persistence.schema import (
    At,
    Rule,
    Schema,
    anything_plain,
    array,
    csr,
    either,
    flag,
    function,
    instance,
    labels,
    mapping,
    none,
    number,
    optional,
    pair,
    sequence,
    size,
    text,
    type_among,
    vocabulary,
    whole,
    words,
)

__all__ = ["schemas"]

# Sums beyond this are not exact in float64.
_MOST = 2.0**53
# A text of n words has about n times as many n-grams as the range is wide.
_MAX_NGRAM = 64

_NUMBER_TYPES: tuple[type, ...] = (
    float,
    int,
    *(np.dtype(code).type for code in ("i4", "i8", "u4", "u8", "f4", "f8")),
)
_CLASSES = labels("n_classes")
_COLUMNS = {"classes_": _CLASSES, "n_features_in_": size("n_features")}
_COUNTERS = ("WordCounter", "HashedCounter")
_COUNT_MODELS = ("BernoulliNaiveBayes", "ComplementNaiveBayes", "MultinomialNaiveBayes")
_ESTIMATORS = (
    *_COUNT_MODELS,
    "AbstainingClassifier",
    "AnyOfClassifier",
    "BlendedSVM",
    "GaussianNaiveBayes",
    "HierarchicalBayes",
    "HigherOrderClassifier",
    "HigherOrderNaiveBayes",
    "HybridBayes",
    "MultilayerPerceptron",
    "NBSVM",
    "NeighborsClassifier",
    "RocchioClassifier",
    "SemiSupervisedClassifier",
    "SemiSupervisedNaiveBayes",
    "SoftmaxRegression",
    "sklearn.LinearSVC",
    "sklearn.LogisticRegression",
    "sklearn.RidgeClassifier",
    "sklearn.SGDClassifier",
)
_FITTED = instance(
    *_ESTIMATORS, fitted=True, n_classes="n_classes", n_features="n_features"
)
_TEMPLATE = instance(*_ESTIMATORS, fitted=False)


@cache
def schemas() -> Mapping[str, Schema]:
    """Class name in a file -> what its state must be."""
    return {
        **_text_schemas(),
        **_statistics_schemas(),
        **_bayes_schemas(),
        **_linear_schemas(),
        **_other_models(),
        **_semi_supervised_schemas(),
        **_decision_schemas(),
        **_pipeline_schemas(),
    }


def _pattern(value: object, at: At) -> None:
    """A regular expression with at most one group, as counting tokens takes it."""
    try:
        fits = isinstance(value, str) and re.compile(value).groups <= 1
    except (re.error, RecursionError, OverflowError):
        fits = False
    if not fits:
        raise at.refuse("a regular expression with at most one group", value)


def _encoding(value: object, at: At) -> None:
    """A text encoding that Python knows."""
    try:
        if isinstance(value, str) and "".encode(value) == b"".decode(value).encode():
            return
    except (LookupError, ValueError):
        pass
    raise at.refuse("the name of an encoding", value)


def _set_of_strings(value: object, at: At) -> None:
    if not isinstance(value, (set, frozenset)):
        raise at.refuse("a set of strings", value)


def _ngram_range(value: object, at: At) -> None:
    pair(whole(1, _MAX_NGRAM), whole(1, _MAX_NGRAM))(value, at)


def _encoder_name(value: object, at: At) -> None:
    """An encoder of a known kind; not on another machine's disk."""
    try:
        if isinstance(value, str) and not parse_name(value).place.startswith(_SHARES):
            return
    except DataError:
        pass
    raise at.refuse("the name of an encoder", value)


# A path on a network share would make the machine introduce itself to a stranger's.
_SHARES = ("//", "\\\\")
_ENCODER = either(none, function, _encoder_name)


def _text_schemas() -> dict[str, Schema]:
    analysis: dict[str, Rule] = {
        "analyzer": either(text("word", "char", "char_wb"), function),
        "preprocessor": either(none, function, instance("TextPreparation")),
        "tokenizer": optional(function),
        "strip_accents": either(none, text(), function),
        # A stranger's model must not read the files that documents name.
        "input": text("content"),
        "ngram_range": _ngram_range,
        "dtype": type_among(*_NUMBER_TYPES),
        "token_pattern": optional(_pattern),
        "encoding": _encoding,
        "stop_words": either(none, text("english"), words(), _set_of_strings),
    }
    return {
        "WordCounter": Schema(
            check=lambda counter: Analysis(counter).check(),
            parameters=analysis,
            fitted={"fixed_vocabulary_": flag, "vocabulary_": vocabulary("n_terms")},
            optional={
                "n_documents_": whole(),
                "seen_terms_": words("n_seen"),
                "seen_document_count_": array("i", "n_seen", low=0, high=_MOST),
                "seen_token_count_": array("i", "n_seen", low=0, high=_MOST),
            },
        ),
        "HashedCounter": Schema(
            check=methodcaller("_check"),
            parameters={**analysis, "n_features": size("n_terms")},
        ),
        "TextPreparation": Schema(parameters={"strip_accents": either(none, text())}),
        "TfidfWeighting": Schema(
            fitted={
                "document_frequency_": array("if", "n_features", low=0, high=_MOST),
                "n_documents_": number(0, _MOST),
                "n_features_in_": size("n_features"),
            }
        ),
        "TermSelector": Schema(
            fitted={
                "n_features_in_": size("n_features"),
                "scores_": array("f", "n_features", nan=True),
            }
        ),
    }


def _statistics_schemas() -> dict[str, Schema]:
    def sums(name: str) -> Rule:
        return csr("if", "n_classes", name, low=0, high=_MOST)

    docs = array("if", "n_classes", low=0, high=_MOST)
    return {
        "ClassStatistics": Schema(
            fitted={
                "classes": _CLASSES,
                "docs": docs,
                "presence": sums("n_terms"),
                "terms": optional(words("n_terms", unique=True)),
                "tokens": sums("n_terms"),
            }
        ),
        "ClassMoments": Schema(
            fitted={
                "classes": _CLASSES,
                "docs": docs,
                "mean": array("f", "n_classes", "n_terms"),
                "squares": array("f", "n_classes", "n_terms", low=0),
            }
        ),
        "UnitVectorSums": Schema(
            fitted={
                "classes": _CLASSES,
                "docs": docs,
                "signed": array("i", "n_classes", low=-_MOST, high=_MOST),
                "sums": csr("if", "n_classes", "n_terms"),
                "unit": flag,
            }
        ),
        "RegionStatistics": Schema(
            fitted={
                "columns": sequence(array("i", None, low=0), "n_regions"),
                "event_models": words("n_regions"),
                "parts": sequence(
                    instance("ClassStatistics", n_classes="n_classes"), "n_regions"
                ),
                "shared": flag,
                "sizes": instance("ClassStatistics", n_classes="n_classes"),
            },
            ties=_columns_of_regions,
        ),
    }


def _columns_of_regions(state: Mapping[str, Any], at: At) -> None:
    """Each region's statistics have a column for each of its columns."""
    for columns, part in zip(state["columns"], state["parts"], strict=True):
        if len(columns) != part.tokens.shape[1] and not state["shared"]:
            raise at.fault(": columns and statistics do not fit")
    at.sizes["n_features"] = 1 + max(
        (int(columns.max(initial=-1)) for columns in state["columns"]), default=-1
    )


def _bayes_schemas() -> dict[str, Schema]:
    """Models made of class sums; their statistics come with them."""

    def counted(statistics: str) -> Schema:
        part = instance(statistics, n_classes="n_classes", n_terms="n_features")
        return Schema(fitted={**_COLUMNS, "statistics_": part}, ties=_own_classes)

    hybrid: dict[str, Rule] = {
        **_COLUMNS,
        "alpha_": number(0, above=0),
        "class_bias_": array("f", "n_classes"),
        "log_loss_": mapping(number(), number()),
        "region_weight_": array("f", "n_regions"),
        "statistics_": instance("RegionStatistics", n_classes="n_classes"),
    }
    higher_order: dict[str, Rule] = {
        **_COLUMNS,
        "class_count_": array("if", "n_classes", low=0, high=_MOST),
        "document_class_": optional(array("i", "n_documents", low=0)),
        "documents_": optional(csr("iu", "n_documents", "n_features", low=0, high=1)),
        "is_first_order_": array("b", "n_classes"),
        "path_count_": csr("if", "n_classes", "n_features", low=0),
        "path_total_": array("if", "n_classes", low=0),
        "seen_": array("b", "n_features"),
    }
    return {
        "BernoulliNaiveBayes": counted("ClassStatistics"),
        "ComplementNaiveBayes": counted("ClassStatistics"),
        "MultinomialNaiveBayes": counted("ClassStatistics"),
        "GaussianNaiveBayes": counted("ClassMoments"),
        "RocchioClassifier": Schema(
            fitted={
                **_COLUMNS,
                "statistics_": instance(
                    "UnitVectorSums", n_classes="n_classes", n_terms="n_features"
                ),
                "tuned_": mapping(text("temperature", "threshold"), number()),
            },
            ties=_own_classes,
        ),
        "HybridBayes": Schema(
            parameters={
                "blocks": optional(array("i", None, low=0, high=2.0**20)),
                "event_model": either(text(), words(at_least=1)),
            },
            fitted=hybrid,
            optional={"blocks_": optional(array("i", None, low=0, high=2.0**20))},
            ties=_regions_of_hybrid,
        ),
        "HigherOrderNaiveBayes": Schema(
            fitted=higher_order, ties=_below("document_class_", "n_classes")
        ),
    }


def _own_classes(state: Mapping[str, Any], at: At) -> None:
    """The statistics are of the model's classes, in the same order."""
    if not np.array_equal(state["statistics_"].classes, state["classes_"]):
        raise at.fault(".statistics_ has other classes than the model")


def _regions_of_hybrid(state: Mapping[str, Any], at: At) -> None:
    """Regions, weights and the region of each column agree."""
    statistics = state["statistics_"]
    # A file of before ``fit`` took them has them as a parameter.
    blocks = state.get("blocks_", state["blocks"])
    _own_sizes = len(statistics.parts) == len(state["region_weight_"])
    n_features = int(state["n_features_in_"])
    together = np.concatenate([np.zeros(0, np.int64), *statistics.columns])
    if not _own_sizes or together.max(initial=-1) >= n_features:
        raise at.fault(": regions, columns and weights do not fit")
    if blocks is not None and len(blocks) != n_features:
        raise at.fault(".blocks must name a region for each column")
    if not np.array_equal(statistics.sizes.classes, state["classes_"]):
        raise at.fault(".statistics_ has other classes than the model")


def _below(name: str, size_name: str) -> Any:
    """Every number of an attribute is below a size."""

    def ties(state: Mapping[str, Any], at: At) -> None:
        value = state[name]
        if value is not None and value.max(initial=-1) >= at.sizes[size_name]:
            raise at.fault(f".{name} must be below {at.sizes[size_name]}")

    return ties


def _linear_schemas() -> dict[str, Schema]:
    weights: dict[str, Rule] = {**_COLUMNS, "intercept_": _INTERCEPT, "weights_": _COEF}
    ratio = {"log_ratio_": array("f", "n_machines", "n_features"), "n_iter_": whole()}
    nbsvm = instance(
        "NBSVM", fitted=True, n_classes="n_classes", n_features="n_features"
    )
    return {
        "NBSVM": Schema(fitted=weights | ratio, ties=_one_per_class),
        "BlendedSVM": Schema(fitted=weights | {"nbsvm_": nbsvm}, ties=_one_per_class),
        "SoftmaxRegression": Schema(
            fitted={
                **_COLUMNS,
                "_offset": array("f", "n_classes"),
                "_squares": array("f", None, finite=False),
                "_weights": array("f", "n_features", "n_classes"),
                "n_iter_": whole(),
                "step_size_": _any_float,
                "trace_": anything_plain,
            },
            optional={
                "_length": number(0),
                "_weight_seen": number(0),
                "objective_": number(),
            },
            ties=_squares_fit,
        ),
        "MultilayerPerceptron": Schema(
            parameters={"start_weights": _weight_list},
            fitted={
                **_COLUMNS,
                "_dense": array("f", None),
                "_first": array("f", "n_features", None),
                "_length": number(0),
                "_sizes": _layer_sizes,
                "n_iter_": whole(),
                "step_size_": _any_float,
                "trace_": anything_plain,
            },
            ties=_layers_fit,
        ),
        "sklearn.LinearSVC": _sklearn(n_iter_=whole()),
        "sklearn.LogisticRegression": _sklearn(n_iter_=array("i", None, low=0)),
        "sklearn.RidgeClassifier": _sklearn(
            _label_binarizer=instance("sklearn.LabelBinarizer", n_classes="n_classes"),
            n_iter_=optional(array("i", None, low=0)),
            solver_=text(),
        ),
        "sklearn.SGDClassifier": _sklearn(
            {
                "_expanded_class_weight": array("f", "n_classes", low=0),
                "loss_function_": none,
                "_average_coef": _COEF,
                "_average_intercept": _INTERCEPT,
                "_standard_coef": _COEF,
                "_standard_intercept": _INTERCEPT,
                "average_coef_": _COEF,
                "average_intercept_": _INTERCEPT,
            },
            n_iter_=whole(),
            t_=number(0),
        ),
        "sklearn.LabelBinarizer": Schema(
            check=methodcaller("_validate_params"),
            fitted={
                "classes_": _CLASSES,
                "sparse_input_": flag,
                "y_type_": text("binary", "multiclass"),
            },
        ),
    }


def _any_float(value: object, at: At) -> None:
    if not isinstance(value, (float, int)) or isinstance(value, bool):
        number()(value, at)


def _one_per_class(state: Mapping[str, Any], at: At) -> None:
    """Two classes have one machine, more have one each."""
    n_classes, n_machines = at.sizes["n_classes"], at.sizes["n_machines"]
    if n_classes < 2 or n_machines != (1 if n_classes == 2 else n_classes):
        raise at.fault(f" has {n_machines} rows of weights for {n_classes} classes")


def _squares_fit(state: Mapping[str, Any], at: At) -> None:
    if state["_squares"].size not in (0, at.sizes["n_features"] + 1):
        raise at.fault("._squares does not fit the weights")


def _weight_list(value: object, at: At) -> None:
    if value is not None:
        items = list(value) if isinstance(value, tuple) else value
        matrix = either(array("f", None, None), array("f", None))
        sequence(matrix)(items, at)


def _layer_sizes(value: object, at: At) -> None:
    items = list(value) if isinstance(value, tuple) else value
    sequence(whole(1, 2**24), at_least=1)(items, at)


def _layers_fit(state: Mapping[str, Any], at: At) -> None:
    """Weights for every layer, as many as the sizes of the layers say."""
    sizes = [int(n) for n in state["_sizes"]]
    first = state["_first"]
    needed = sizes[0] + sum((before + 1) * after for before, after in pairwise(sizes))
    if (
        first.shape[1] != sizes[0]
        or sizes[-1] != at.sizes["n_classes"]
        or len(state["_dense"]) != needed
    ):
        raise at.fault(f": the weights do not fit the layers {sizes}")


_COEF, _INTERCEPT = array("f", "n_machines", "n_features"), array("f", "n_machines")
_LINEAR: dict[str, Rule] = {
    **_COLUMNS,
    "coef_": _COEF,
    "intercept_": either(_INTERCEPT, number()),
}


def _sklearn(optional: Mapping[str, Rule] | None = None, **fitted: Rule) -> Schema:
    return Schema(
        check=methodcaller("_validate_params"),
        fitted=_LINEAR | fitted,
        optional=optional or {},
        ties=_one_per_class,
    )


def _other_models() -> dict[str, Schema]:
    pairs = array("f", "n_classes", "n_features", high=0, finite=False)
    return {
        "HierarchicalBayes": Schema(
            fitted={
                **_COLUMNS,
                "class_log_prior_": array("f", "n_classes", high=0),
                "node_class_": array("i", "n_nodes", low=0),
                "node_log_weight_": array("f", "n_nodes", finite=False),
            },
            optional={
                "alpha_": number(0),
                "best_restart_": array("i", "n_classes"),
                "bounds_": array("f", "n_classes", None, None, nan=True),
                "converged_": flag,
                "feature_log_prob_": array("f", "n_nodes", "n_features", finite=False),
                "theta_": array("f", "n_nodes", "n_features"),
                "var_": array("f", "n_nodes", "n_features", low=0),
                "n_hidden_": array("i", "n_classes", low=1),
                "n_iter_": whole(),
                "responsibilities_": array("f", None, None, nan=True),
                "restart_scores_": array("f", None, None, finite=False, nan=True),
                "trials_": anything_plain,
                "validation_score_": anything_plain,
            },
            ties=_nodes_of_classes,
        ),
        "HigherOrderClassifier": Schema(
            parameters={"estimator": optional(_TEMPLATE)},
            fitted={
                **_COLUMNS,
                "estimators_": sequence(instance(*_ESTIMATORS, fitted=True)),
                "held_": array("b", "n_classes", "n_features"),
                "log_absent_": pairs,
                "log_present_": pairs,
            },
            optional={"C_": number(0)},
            ties=_one_per_pair,
        ),
        "HigherOrderTransformer": Schema(
            fitted={
                **_COLUMNS,
                "log_absent_": pairs,
                "log_present_": pairs,
                "pairs_": anything_plain,
                "seen_": array("b", "n_features"),
            }
        ),
        "NeighborsClassifier": Schema(
            fitted={
                **_COLUMNS,
                "chosen_": optional(whole(1)),
                "lots_seed_": whole(0, 2**32),
                "targets_": array("i", "n_documents", low=0),
                "vectors_": csr("f", "n_documents", "n_features"),
            },
            ties=_below("targets_", "n_classes"),
        ),
    }


def _nodes_of_classes(state: Mapping[str, Any], at: At) -> None:
    """Nodes lie class by class, and every class has one."""
    owners = state["node_class_"]
    if not np.array_equal(np.unique(owners), np.arange(at.sizes["n_classes"])) or (
        np.any(np.diff(owners) < 0)
    ):
        raise at.fault(".node_class_ must name each class in order")
    if not {"feature_log_prob_", "theta_"} & set(state):
        raise at.fault(" has no parameters of its nodes")


def _one_per_pair(state: Mapping[str, Any], at: At) -> None:
    """One estimator for each pair of classes, on the columns that either class has."""
    n_classes, presence = at.sizes["n_classes"], state["held_"]
    pairs = [(a, b) for a in range(n_classes) for b in range(a + 1, n_classes)]
    if len(pairs) != len(state["estimators_"]):
        raise at.fault(f" must have {len(pairs)} estimators")
    for (a, b), estimator in zip(pairs, state["estimators_"], strict=True):
        if int((presence[a] | presence[b]).sum()) != estimator.n_features_in_:
            raise at.fault(".estimators_ do not fit the columns")
        if len(estimator.classes_) != 2:
            raise at.fault(".estimators_ must tell two classes apart")


def _semi_supervised_schemas() -> dict[str, Schema]:
    columns = array("i", None, low=0)
    kinds = optional(array("i", "n_features", low=0, high=8))
    table: dict[str, Rule] = {
        "mean_": array("f", "n_components"),
        "table_": array("f", "n_terms", "n_components"),
    }
    views = ("LsaView", "PpmiView", "SubwordView", "TfidfView", "VectorView")
    return {
        "TfidfView": Schema(),
        "VectorView": Schema(
            fitted={
                "mean_": array("f", "n_dimensions"),
                "turn_": array("f", "n_dimensions", "n_dimensions"),
            }
        ),
        "LsaView": Schema(fitted=table),
        "PpmiView": Schema(fitted=table, parameters={"n_terms": whole(1)}),
        "SubwordView": Schema(fitted=table, parameters={"terms": words(None)}),
        "LinearStudent": Schema(
            parameters={"estimator": optional(_TEMPLATE)},
            fitted={
                "labelled_weights_": array("f", "n_columns", "n_classes"),
                "offsets_": array("f", "n_classes"),
                "weights_": array("f", "n_columns", "n_classes"),
            },
        ),
        "RecipeFeatures": Schema(
            parameters={"kinds": kinds},
            fitted={
                "encoder_": optional(instance("VectorView", fitted=True)),
                "phrase_weighting_": optional(instance("TfidfWeighting", fitted=True)),
                "phrases_": columns,
                "tables_": mapping(text(), instance(*views)),
                "vectors_": columns,
                "word_weighting_": instance("TfidfWeighting", fitted=True),
                "words_": columns,
            },
            ties=_recipe_columns,
        ),
        "SemiSupervisedNaiveBayes": Schema(
            parameters={"start": anything_plain},
            fitted={
                **_COLUMNS,
                "class_log_prior_": array("f", "n_classes", high=0),
                "converged_": flag,
                "feature_log_prob_": array("f", "n_classes", "n_features", high=0),
                "n_iter_": whole(),
            },
        ),
        "SemiSupervisedClassifier": Schema(
            parameters={
                "kinds": kinds,
                "terms": optional(words("n_features")),
                "calibration_folds": optional(whole(0, 1000)),
                "min_pool_ratio": number(0),
                "n_components": whole(1, 2**20),
                "pool_weight": optional(number(0)),
                "prior_correction": number(),
                "student": either(text(), _TEMPLATE),
                "voter": either(text(), _TEMPLATE),
            },
            fitted={
                **_COLUMNS,
                "left_out_": optional(
                    pair(
                        array("i", "n_left_out", low=0),
                        array("f", "n_left_out", "n_classes", finite=False),
                    )
                ),
                "class_share_": array("f", "n_classes", low=0),
                "encoder_share_": optional(number(0, 1)),
                "features_": instance(
                    "RecipeFeatures", fitted=True, n_features="n_features"
                ),
                "recipe_": text(),
                "scale_": number(0),
                "student_weights_": mapping(text(), number(0)),
                "students_": mapping(
                    text(),
                    instance("LinearStudent", fitted=True, n_classes="n_classes"),
                ),
                "used_pool_": flag,
            },
            optional={"n_iter_": whole()},
            ties=_every_student_has_a_weight,
        ),
    }


def _every_student_has_a_weight(state: Mapping[str, Any], at: At) -> None:
    if not state["students_"].keys() <= state["student_weights_"].keys():
        raise at.fault(".student_weights_ do not fit the students")


def _recipe_columns(state: Mapping[str, Any], at: At) -> None:
    """Columns are among those there are, and weighted one by one."""
    kinds = state["kinds"]
    n_features = 2**48 if kinds is None else len(kinds)
    for name in ("words_", "phrases_", "vectors_"):
        if state[name].max(initial=-1) >= n_features:
            raise at.fault(f".{name} names columns that are not there")
    for name, weighting in (
        ("words_", state["word_weighting_"]),
        ("phrases_", state["phrase_weighting_"]),
    ):
        if weighting is not None and weighting.n_features_in_ != len(state[name]):
            raise at.fault(f": weighting and {name} do not fit")
    encoder = state["encoder_"]
    if (encoder is None) != (not len(state["vectors_"])):
        raise at.fault(".encoder_ and vectors_ do not fit")
    if encoder is not None and len(encoder.mean_) != len(state["vectors_"]):
        raise at.fault(".encoder_ and vectors_ do not fit")
    for view in state["tables_"].values():
        table = vars(view).get("table_")
        if table is not None and len(table) != len(state["words_"]):
            raise at.fault(".tables_ do not fit the words")


def _groups_of_answers(state: Mapping[str, Any], at: At) -> None:
    group = state["group"]
    if group is not None and group.max(initial=-1) >= state["n_groups"]:
        raise at.fault(".group must be below n_groups")


def _sorted_for_search(state: Mapping[str, Any], at: At) -> None:
    """Terms and calibration figures are looked up by bisection."""
    if (np.diff(state["terms_"]) <= 0).any():
        raise at.fault(".terms_ must rise")
    if (np.diff(state["calibration_"]) < 0).any():
        raise at.fault(".calibration_ must not fall")


def _threshold_fields() -> list[str]:
    return [f.name for f in fields(decision.Threshold) if f.name != "n_pooled"]


def _decision_schemas() -> dict[str, Schema]:
    evidence: dict[str, Rule] = {
        "about_labels": flag,
        "certainty": array("f", "n_answers", finite=False),
        "correct": array("b", "n_answers"),
        "group": optional(array("i", "n_answers", low=0)),
        "held_out": flag,
        "n_copies": whole(0),
        "n_groups": whole(1),
        "probabilistic": flag,
    }
    return {
        "Evidence": Schema(
            fitted=evidence,
            optional={"novelty": optional(array("f", "n_answers", low=0, high=1))},
            ties=_groups_of_answers,
        ),
        "NoveltyDetector": Schema(
            parameters={
                "analyzer": text("word", "char", "char_wb"),
                "ngram_range": _ngram_range,
                "random_state": whole(),
            },
            fitted={
                "terms_": array("i", "n_terms", low=0, high=2**31 - 1),
                "counts_": csr("u", "n_documents", "n_terms", low=1, high=255),
                "dual_": array("f", "n_documents", "n_columns"),
                "prior_": array("f", "n_columns"),
                "calibration_": array("f", None),
            },
            optional={"neighbor_weight_": number(0)},
            ties=_sorted_for_search,
        ),
        "LearnedConfidence": Schema(
            fitted={
                "bias": number(),
                "mean": array("f", "n_figures"),
                "plain_risk": number(),
                "risk": number(),
                "scale": array("f", "n_figures"),
                "weight": array("f", "n_figures"),
            }
        ),
        "Threshold": Schema(
            fitted=dict.fromkeys(_threshold_fields(), anything_plain),
            optional={"n_pooled": whole(1)},
        ),
        "TemperatureCalibrator": Schema(
            fitted={"n_classes_": size("n_classes"), "temperature_": number(above=0)}
        ),
        "PlattCalibrator": Schema(
            fitted={
                "offset_": array("f", "n_classes"),
                "slope_": array("f", "n_classes"),
            }
        ),
        "AnyOfClassifier": Schema(
            parameters={"estimator": either(_TEMPLATE, instance())},
            fitted={
                "classes_": _CLASSES,
                "estimators_": sequence(
                    either(
                        instance(*_ESTIMATORS, fitted=True, n_features="n_features"),
                        anything_plain,
                    ),
                    "n_classes",
                ),
                "input_": text("one", "indicator", "sets"),
                "threshold_": array("f", "n_classes", finite=False),
            },
            optional={"n_features_in_": size("n_features")},
        ),
        "AbstainingClassifier": Schema(
            parameters={
                "estimator": either(_TEMPLATE, instance()),
                "cost": anything_plain,
            },
            fitted={"any_of_": flag, "classes_": _CLASSES, "estimator_": _FITTED},
            optional={
                "n_features_in_": size("n_features"),
                "cost_": array("f", None, None),
                "coverage_": number(0, 1),
                "estimated_error_": optional(number(0, 1)),
                "guaranteed_error_": optional(number(0, 1)),
                "n_missing_": optional(whole()),
                "class_sizes_": array("i", "n_classes", low=0),
                "evidence_": optional(instance("Evidence")),
                "learned_confidence_": optional(instance("LearnedConfidence")),
                "threshold_": anything_plain,
                "thresholds_": sequence(instance("Threshold")),
            },
        ),
    }


def _pipeline_schemas() -> dict[str, Schema]:

    def matrix(engine_features: str, *models: str) -> Schema:
        return Schema(
            parameters={
                "class_weight": anything_plain,
                "estimator": either(_TEMPLATE, instance("AnyOfClassifier")),
                "features": instance(
                    engine_features, fitted=True, n_features="n_features"
                ),
                "random_state": anything_plain,
            },
            fitted={
                "calibrator_": optional(
                    instance("TemperatureCalibrator", n_classes="n_classes")
                ),
                "classes_": _CLASSES,
                "model_": instance(
                    *models, fitted=True, n_classes="n_classes", n_features="n_features"
                ),
            },
            ties=_gives_probabilities,
        )

    return {
        "TextClassifier": Schema(
            check=methodcaller("_check_promise"),
            parameters={
                "class_names": either(
                    none, text("auto"), mapping(anything_plain, anything_plain)
                ),
                "encoder": _ENCODER,
                "features": either(
                    none,
                    mapping(text(), anything_plain),
                    instance(*_COUNTERS),
                    function,
                ),
                "model": either(text(), _TEMPLATE, instance("AnyOfClassifier")),
                "regions": either(
                    none, text("email"), words(unique=True, at_least=1), function
                ),
            },
            fitted={
                "classes_": _CLASSES,
                "engine_": instance(
                    "AnyOfEngine",
                    "CountEngine",
                    "MatrixEngine",
                    "SemiEngine",
                    fitted=True,
                    n_classes="n_classes",
                ),
                "evidence_": optional(instance("Evidence")),
                "model_name_": text(),
                "reasons_": words(),
            },
            optional={
                "class_sizes_": optional(array("i", "n_classes", low=0)),
                "learned_confidence_": optional(instance("LearnedConfidence")),
                "n_columns_": optional(whole(1, 2**20)),
                "novelty_": optional(instance("NoveltyDetector", fitted=True)),
                "seed_": optional(whole(0)),
            },
            ties=_labels_are_columns,
        ),
        "CountEngine": Schema(
            parameters={
                "class_weight": anything_plain,
                "counter": instance(*_COUNTERS),
                "estimator": instance(*_COUNT_MODELS, fitted=False),
            },
            fitted={
                "classes_": _CLASSES,
                "regions_": words("n_regions", unique=True),
                "statistics_": sequence(
                    instance("ClassStatistics", n_classes="n_classes"),
                    "n_regions",
                    at_least=1,
                ),
            },
            ties=_named_statistics,
        ),
        "MatrixEngine": matrix("RegionFeatures", *_ESTIMATORS),
        "AnyOfEngine": matrix("RegionFeatures", "AnyOfClassifier"),
        "SemiEngine": matrix("SemiFeatures", *_ESTIMATORS),
        "RegionFeatures": Schema(
            parameters={
                "counter": instance(*_COUNTERS),
                "shared": flag,
                "weighting": optional(instance("TfidfWeighting", fitted=False)),
            },
            fitted={
                "counters_": sequence(instance(*_COUNTERS), at_least=1),
                "regions_": words("n_regions", unique=True),
                "weightings_": sequence(
                    optional(instance("TfidfWeighting", fitted=True)), at_least=1
                ),
                "widths_": sequence(whole(0, 2**31), "n_regions", at_least=1),
            },
            ties=_region_widths,
        ),
        "SemiFeatures": Schema(
            parameters={"counter": instance(*_COUNTERS), "encoder": _ENCODER},
            optional={
                "n_spared_": whole(),
                "probes_": optional(array("f", None, "n_dimensions")),
                "table_": optional(array("f", "n_words", "n_dimensions")),
                "table_weighting_": optional(
                    instance("TfidfWeighting", fitted=True, n_features="n_words")
                ),
            },
            fitted={
                "kinds_": array("i", "n_features", low=0, high=8),
                "phrases_": optional(instance("WordCounter", n_terms="n_phrases")),
                "regions_": words("n_regions", unique=True),
                "words_": instance("WordCounter", n_terms="n_words"),
            },
            ties=_semi_columns,
        ),
    }


def _gives_probabilities(state: Mapping[str, Any], at: At) -> None:
    model = state["model_"]
    alone = isinstance(model, decision.AnyOfClassifier) or hasattr(
        model, "predict_proba"
    )
    if state["calibrator_"] is None and not alone:
        raise at.fault(".calibrator_ is missing for its model")


def _named_statistics(state: Mapping[str, Any], at: At) -> None:
    """Statistics of texts know their terms, and are of the engine's classes."""
    for statistics in state["statistics_"]:
        if statistics.terms is None:
            raise at.fault(".statistics_ must name their terms")
        if not np.array_equal(statistics.classes, state["classes_"]):
            raise at.fault(".statistics_ has other classes")


def _labels_are_columns(state: Mapping[str, Any], at: At) -> None:
    """Where answers are matrices of 0 and 1, any-of labels are the columns' numbers."""
    n_columns, labels = state.get("n_columns_"), state["classes_"]
    if n_columns is None:
        return
    numbers = (
        labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < n_columns
    )
    if not numbers or type(state["engine_"]).__name__ != "AnyOfEngine":
        raise at.fault(".n_columns_ does not fit the labels")


def _region_widths(state: Mapping[str, Any], at: At) -> None:
    """The width of each region is that of its counter and of its weighting."""
    n_regions, n_counters = at.sizes["n_regions"], len(state["counters_"])
    if n_counters not in (1, n_regions) or len(state["weightings_"]) != n_counters:
        raise at.fault(": regions, counters and weightings do not fit")
    for i, width in enumerate(state["widths_"]):
        shared = 0 if n_counters == 1 else i
        known = at.checker.known(state["counters_"][shared])
        weighting = state["weightings_"][shared]
        columns = {width, None if known is None else known[2].get("n_terms")}
        if weighting is not None:
            columns.add(weighting.n_features_in_)
        if columns != {width}:
            raise at.fault(".widths_ do not fit the vocabularies")
    at.sizes["n_features"] = sum(state["widths_"])


def _semi_columns(state: Mapping[str, Any], at: At) -> None:
    """Words and phrases are columns; what is more is the encoder's."""
    sizes = at.sizes
    counted = sizes.get("n_words", 0) + sizes.get("n_phrases", 0)
    n_regions = sizes["n_regions"]
    if state["encoder"] is None and counted * n_regions < sizes["n_features"]:
        raise at.fault(".kinds_ does not fit the vocabularies")
    n_vectors = int(np.count_nonzero(state["kinds_"] == VECTOR))
    named = isinstance(state["encoder"], str)
    if named and sizes.get("n_dimensions") != n_vectors:
        raise at.fault(f".encoder must come with {n_vectors} columns")
    if (state.get("table_") is None) != (state.get("table_weighting_") is None):
        raise at.fault(".table_ and table_weighting_ do not fit")
