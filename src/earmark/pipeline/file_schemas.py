"""What each class in a model file must look like, checked before it is made.

A class that has no schema here is not read from a file, and an attribute that its
schema does not know is refused: whoever adds either adds it here. How a row is read
says ``earmark.persistence.schema.Schema``; sizes with one name are one size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import combinations, pairwise
from operator import methodcaller
from typing import Any, TypeAlias

import numpy as np

from earmark import decision
from earmark.encoders.encoder import parse_name
from earmark.exceptions import DataError
from earmark.features.analysis import Analysis
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
    such,
    text,
    type_among,
    vocabulary,
    whole,
    words,
)

# -- rules ------------------------------------------------------------------------

# Sums beyond this are not exact in float64.
_MOST = 2.0**53
# A text of n words has about n times as many n-grams as the range is wide.
_MAX_NGRAM = 64
# A path on a network share would make the machine introduce itself to a stranger's.
_SHARES = ("//", "\\\\")

_COUNTERS = ("WordCounter", "HashedCounter")
_COUNT_MODELS = ("BernoulliNaiveBayes", "ComplementNaiveBayes", "MultinomialNaiveBayes")
_SKLEARN = ("LinearSVC", "LogisticRegression", "RidgeClassifier", "SGDClassifier")
_ESTIMATORS = (
    *_COUNT_MODELS,
    *("AbstainingClassifier", "AnyOfClassifier", "BlendedSVM", "GaussianNaiveBayes"),
    *("HierarchicalBayes", "HigherOrderClassifier", "HigherOrderNaiveBayes"),
    *("HybridBayes", "MultilayerPerceptron", "NBSVM", "NeighborsClassifier"),
    *("RocchioClassifier", "SemiSupervisedClassifier", "SemiSupervisedNaiveBayes"),
    "SoftmaxRegression",
    *(f"sklearn.{name}" for name in _SKLEARN),
)
_VIEWS = ("LsaView", "PpmiView", "SubwordView", "TfidfView", "VectorView")
_NUMBER_TYPES = (np.dtype(code).type for code in ("i4", "i8", "u4", "u8", "f4", "f8"))

_floats, _bits = partial(array, "f"), partial(array, "b")
_indices = partial(array, "i", low=0)
_sums = partial(array, "if", low=0, high=_MOST)
_fitted = partial(instance, fitted=True)
_model = partial(_fitted, n_classes="n_classes", n_features="n_features")
_template = instance(*_ESTIMATORS, fitted=False)
_any_template = either(_template, instance("AnyOfClassifier"))
_weighting = _fitted("TfidfWeighting")
_part = partial(instance, n_classes="n_classes")
_regions = words("n_regions", unique=True)
_left_out = _floats("n_left_out", "n_classes", finite=False)
_share = number(0, 1)
_classes = labels("n_classes")
_columns: dict[str, Rule] = {"classes_": _classes, "n_features_in_": size("n_features")}


_pattern = such(
    "a regular expression with at most one group",
    lambda value: isinstance(value, str) and re.compile(value).groups <= 1,
    (re.error, RecursionError, OverflowError),
)
_encoding = such(
    "the name of an encoding",
    lambda name: isinstance(name, str) and "".encode(name) == b"".decode(name).encode(),
    (LookupError, ValueError),
)
_set_of_strings = such("a set of strings", lambda v: isinstance(v, (set, frozenset)))
# An encoder of a known kind; not on another machine's disk.
_encoder_name = such(
    "the name of an encoder",
    lambda v: isinstance(v, str) and not parse_name(v).place.startswith(_SHARES),
    (DataError,),
)


def _any_float(value: object, at: At) -> None:
    if not isinstance(value, (float, int)) or isinstance(value, bool):
        number()(value, at)


def _list_of(rule: Rule, at_least: int, value: object, at: At) -> None:
    """A list or a tuple whose elements the rule allows."""
    items = list(value) if isinstance(value, tuple) else value
    sequence(rule, at_least=at_least)(items, at)


_encoder = either(none, function, _encoder_name)
_ngram_range = pair(whole(1, _MAX_NGRAM), whole(1, _MAX_NGRAM))
_layer = either(_floats(None, None), _floats(None))


# -- what must hold between attributes ----------------------------------------------

# The attributes of an object, each of which has been checked.
State: TypeAlias = Any


def _below(name: str, limit: str) -> Callable[[State, At], bool]:
    """Every number of an attribute that is not None is below a size."""

    def holds(it: State, at: At) -> bool:
        numbers = vars(it)[name]
        return numbers is None or bool(numbers.max(initial=-1) < at.sizes[limit])

    return holds


def _within_total(it: State, at: At) -> bool:
    """No term is on more paths of a class than there are."""
    counts = it.path_count_
    total = np.repeat(it.path_total_, np.diff(counts.indptr))
    return bool(np.all(counts.data <= total * (1 + 1e-9)))


def _one_per_class(it: State, at: At) -> bool:
    """Two classes have one machine, more have one each."""
    n_classes = at.sizes["n_classes"]
    needed = 1 if n_classes == 2 else n_classes
    return n_classes >= 2 and at.sizes["n_machines"] == needed


def _layers_fit(it: State, at: At) -> bool:
    """Weights for every layer, as many as the sizes of the layers say."""
    first, dense = vars(it)["_first"], vars(it)["_dense"]
    sizes = [int(n) for n in vars(it)["_sizes"]]
    needed = sizes[0] + sum((before + 1) * after for before, after in pairwise(sizes))
    ends = (sizes[0], sizes[-1], needed)
    return ends == (first.shape[1], at.sizes["n_classes"], len(dense))


def _evidence_fits(it: State, at: At) -> bool:
    """Evidence is about all answers, or about each class."""
    evidence = vars(it).get("evidence_")
    if evidence is None:
        return True
    grouped = evidence.group is not None
    return bool(evidence.n_groups == (at.sizes["n_classes"] if grouped else 1))


def _logs_fit(it: State, at: At) -> bool:
    """With smoothing, no term has the probability 0."""
    logs = (it.log_present_, it.log_absent_)
    return it.alpha == 0 or all(np.isfinite(log).all() for log in logs)


def _pairs_fit(it: State, at: At) -> bool:
    """One estimator for each pair of classes, on the columns that either class has."""
    pairs = list(combinations(it.held_, 2))
    return len(pairs) == len(it.estimators_) and all(
        int((a | b).sum()) == model.n_features_in_ and len(model.classes_) == 2
        for (a, b), model in zip(pairs, it.estimators_, strict=True)
    )


def _regions_fit(it: State, at: At) -> bool:
    """Each region of a hybrid has a weight, and columns that are there."""
    together = np.concatenate([np.zeros(0, np.int64), *it.statistics_.columns])
    n_parts, n_features = len(it.statistics_.parts), int(it.n_features_in_)
    return n_parts == len(it.region_weight_) and bool(
        together.max(initial=-1) < n_features
    )


def _width_fits(it: State, at: At) -> bool:
    """A block is as wide as its counter."""
    if it.counter is None:
        return bool(it.width == 0)
    width = at.size_of(it.counter, "n_terms")
    width = at.size_of(it.counter, "n_columns") if width is None else width
    return bool(width is None or width == it.width)


def _blocks_of_regions(it: State, at: At) -> bool:
    """Blocks of regions in their order, or words, phrases and vectors of them all."""
    regions = [block.region for block in it.blocks]
    if regions[0] is None:
        kinds = [block.kind for block in it.blocks]
        order = [kind for kind in ("word", "phrase", "vector") if kind in kinds]
        return set(regions) == {None} and kinds == order and kinds[0] == "word"
    return bool(regions == list(it.regions))


def _bind_width(it: State, at: At) -> bool:
    """The width of all blocks together is the number of columns."""
    width = sum(block.width for block in it.blocks)
    at.bind("n_features", width)
    return bool(width > 0)


def _blocks_fit(it: State, at: At) -> bool:
    region = it.column_region_
    return region is None or len(region) == it.n_features_in_


def _recipe_columns(it: State, at: At) -> bool:
    """Columns are among those there are, and weighted one by one."""
    if it.words_.max(initial=-1) >= it.n_words_:
        return False
    if it.word_weighting_.n_features_in_ != len(it.words_):
        return False
    weighting, n_phrases = it.phrase_weighting_, len(it.phrases_)
    if weighting is None:
        return n_phrases == 0
    rising = np.array_equal(it.phrases_, np.arange(n_phrases))
    return bool(rising and weighting.n_features_in_ == n_phrases)


def _recipe_views(it: State, at: At) -> bool:
    """Views have a row for each word."""
    tables = (vars(view).get("table_") for view in it.tables_.values())
    return all(table is None or len(table) == len(it.words_) for table in tables)


def _labels_are_columns(it: State, at: At) -> bool:
    """Where answers are matrices of 0 and 1, any-of labels are the columns' numbers."""
    n_columns, classes = vars(it).get("n_columns_"), it.classes_
    return n_columns is None or bool(
        isinstance(it.plan_.estimator, decision.AnyOfClassifier)
        and classes.dtype.kind in "iu"
        and classes.min() >= 0
        and classes.max() < n_columns
    )


# -- the table ----------------------------------------------------------------------

_Fields = dict[str, Rule]
_analysis: _Fields = {
    "analyzer=": either(text("word", "char", "char_wb"), function),
    "preprocessor=": either(none, function, instance("TextPreparation")),
    "tokenizer=": optional(function),
    "strip_accents=": either(none, text(), function),
    # A stranger's model must not read the files that documents name.
    "input=": text("content"),
    "ngram_range=": _ngram_range,
    "dtype=": type_among(float, int, *_NUMBER_TYPES),
    "token_pattern=": optional(_pattern),
    "encoding=": _encoding,
    "stop_words=": either(none, text("english"), words(), _set_of_strings),
}
_by_class: _Fields = {"classes": _classes, "docs": _sums("n_classes")}
_pairs = _floats("n_classes", "n_features", high=0, finite=False)
_coef, _intercept = _floats("n_machines", "n_features"), _floats("n_machines")
_machines: _Fields = {**_columns, " must have weights for each class": _one_per_class}
_margins: _Fields = {**_machines, "intercept_": _intercept, "weights_": _coef}
_sklearn: _Fields = {
    **_machines,
    "coef_": _coef,
    "intercept_": either(_intercept, number()),
}
_descent: _Fields = {
    **_columns,
    "n_iter_": whole(),
    "step_size_": _any_float,
    "trace_": anything_plain,
}
_view: _Fields = {
    "mean_": _floats("n_components"),
    "table_": _floats("n_terms", "n_components"),
}


def _counted(statistics: str) -> _Fields:
    """A model made of class sums, which come with it."""
    return {
        **_columns,
        "statistics_": _part(statistics, n_terms="n_features"),
        ".statistics_ has other classes than the model": lambda it, at: np.array_equal(
            it.statistics_.classes, it.classes_
        ),
    }


_TABLE: dict[str, _Fields] = {
    "WordCounter": {
        **_analysis,
        "fixed_vocabulary_": flag,
        "vocabulary_": vocabulary("n_terms"),
        "n_documents_?": whole(),
        "seen_terms_?": words("n_seen"),
        "seen_document_count_? seen_token_count_?": _indices("n_seen", high=_MOST),
    },
    "HashedCounter": {**_analysis, "n_features=": size("n_terms")},
    "TextPreparation": {"strip_accents=": optional(text())},
    "TfidfWeighting": {
        "document_frequency_": _sums("n_features"),
        "n_documents_": number(0, _MOST),
        "n_features_in_": size("n_features"),
    },
    "TermSelector": {
        "n_features_in_": size("n_features"),
        "scores_": _floats("n_features", nan=True),
    },
    "ClassStatistics": {
        **_by_class,
        "presence tokens": csr("if", "n_classes", "n_terms", low=0, high=_MOST),
        "terms": optional(words("n_terms", unique=True)),
    },
    "ClassMoments": {
        **_by_class,
        "mean": _floats("n_classes", "n_terms"),
        "squares": _floats("n_classes", "n_terms", low=0),
    },
    "UnitVectorSums": {
        **_by_class,
        "signed": array("i", "n_classes", low=-_MOST, high=_MOST),
        "sums": csr("if", "n_classes", "n_terms"),
        "unit": flag,
    },
    "RegionStatistics": {
        "columns": sequence(_indices(None), "n_regions"),
        "event_models": words("n_regions"),
        "parts": sequence(_part("ClassStatistics"), "n_regions"),
        "shared": flag,
        "sizes": _part("ClassStatistics"),
        ": columns and statistics do not fit": lambda it, at: (
            it.shared
            or [len(c) for c in it.columns] == [part.n_features for part in it.parts]
        ),
    },
    **dict.fromkeys(_COUNT_MODELS, _counted("ClassStatistics")),
    "GaussianNaiveBayes": _counted("ClassMoments"),
    "RocchioClassifier": {
        **_counted("UnitVectorSums"),
        "tuned_": mapping(text("temperature", "threshold"), number()),
    },
    "HybridBayes": {
        **_columns,
        "column_region_": optional(_indices(None, high=2.0**20)),
        "event_model=": either(text(), words(at_least=1)),
        "alpha_": number(0, above=0),
        "class_bias_": _floats("n_classes"),
        "log_loss_": mapping(number(), number()),
        "region_weight_": _floats("n_regions"),
        "statistics_": _part("RegionStatistics"),
        ": regions, columns and weights do not fit": _regions_fit,
        ".column_region_ must name a region for each column": _blocks_fit,
        ".statistics_ has other classes than the model": lambda it, at: np.array_equal(
            it.statistics_.sizes.classes, it.classes_
        ),
    },
    "HierarchicalBayes": {
        **_columns,
        "class_log_prior_": _floats("n_classes", high=0),
        "node_class_": _indices("n_nodes"),
        "node_log_weight_": _floats("n_nodes", finite=False),
        "alpha_?": number(0),
        "best_restart_?": array("i", "n_classes"),
        "bounds_?": _floats("n_classes", None, None, nan=True),
        "converged_?": flag,
        "feature_log_prob_?": _floats("n_nodes", "n_features", finite=False),
        "theta_?": _floats("n_nodes", "n_features"),
        "var_?": _floats("n_nodes", "n_features", low=0),
        "n_hidden_?": array("i", "n_classes", low=1),
        "n_iter_?": whole(),
        "responsibilities_? restart_scores_?": _floats(None, None, nan=True),
        "trials_? validation_score_?": anything_plain,
        ".node_class_ must name each class": lambda it, at: np.array_equal(
            np.unique(it.node_class_), np.arange(at.sizes["n_classes"])
        ),
        ".node_class_ must not fall": lambda it, at: (
            np.diff(it.node_class_) >= 0
        ).all(),
        " has no parameters of its nodes": lambda it, at: (
            not {"feature_log_prob_", "theta_"}.isdisjoint(vars(it))
        ),
    },
    "HigherOrderNaiveBayes": {
        **_columns,
        "class_count_": _sums("n_classes"),
        "document_class_": optional(_indices("n_documents")),
        "documents_": optional(csr("iu", "n_documents", "n_features", low=0, high=1)),
        "is_first_order_": _bits("n_classes"),
        "path_count_": csr("if", "n_classes", "n_features", low=0),
        "path_total_": array("if", "n_classes", low=0),
        "seen_": _bits("n_features"),
        ".document_class_ names no class": _below("document_class_", "n_classes"),
        ".path_count_ exceeds path_total_": _within_total,
    },
    "HigherOrderClassifier": {
        **_columns,
        "estimator=": optional(_template),
        "estimators_": sequence(_fitted(*_ESTIMATORS)),
        "held_": _bits("n_classes", "n_features"),
        "log_absent_ log_present_": _pairs,
        "C_?": number(0),
        ": a smoothed probability is 0": _logs_fit,
        ".estimators_ do not fit the pairs of classes and columns": _pairs_fit,
    },
    "HigherOrderTransformer": {
        **_columns,
        "log_absent_ log_present_": _pairs,
        ": a smoothed probability is 0": _logs_fit,
        "pairs_": anything_plain,
        "seen_": _bits("n_features"),
    },
    "NeighborsClassifier": {
        **_columns,
        "chosen_": optional(whole(1)),
        "lots_seed_": whole(0, 2**32),
        "targets_": _indices("n_documents"),
        "vectors_": csr("f", "n_documents", "n_features"),
        ".targets_ names no class": _below("targets_", "n_classes"),
    },
    "NBSVM": {**_margins, "log_ratio_": _coef, "n_iter_": whole()},
    "BlendedSVM": {**_margins, "nbsvm_": _model("NBSVM")},
    "SoftmaxRegression": {
        **_descent,
        "_offset": _floats("n_classes"),
        "_squares": _floats(None, finite=False),
        "_weights": _floats("n_features", "n_classes"),
        "_length? _weight_seen?": number(0),
        "objective_?": number(),
        "._squares does not fit the weights": lambda it, at: (
            vars(it)["_squares"].size in (0, at.sizes["n_features"] + 1)
        ),
    },
    "MultilayerPerceptron": {
        **_descent,
        "start_weights=": optional(partial(_list_of, _layer, 0)),
        "_dense": _floats(None),
        "_first": _floats("n_features", None),
        "_length": number(0),
        "_sizes": partial(_list_of, whole(1, 2**24), 1),
        ": the weights do not fit the layers": _layers_fit,
    },
    "sklearn.LinearSVC": {**_sklearn, "n_iter_": whole()},
    "sklearn.LogisticRegression": {**_sklearn, "n_iter_": _indices(None)},
    "sklearn.RidgeClassifier": {
        **_sklearn,
        "_label_binarizer": _part("sklearn.LabelBinarizer"),
        "n_iter_": optional(_indices(None)),
        "solver_": text(),
    },
    "sklearn.SGDClassifier": {
        **_sklearn,
        "n_iter_": whole(),
        "t_": number(0),
        "_expanded_class_weight?": _floats("n_classes", low=0),
        "loss_function_?": none,
        "_average_coef? _standard_coef? average_coef_?": _coef,
        "_average_intercept? _standard_intercept? average_intercept_?": _intercept,
    },
    "sklearn.LabelBinarizer": {
        "classes_": _classes,
        "sparse_input_": flag,
        "y_type_": text("binary", "multiclass"),
    },
    "TfidfView": {},
    "VectorView": {
        "mean_": _floats("n_dimensions"),
        "turn_": _floats("n_dimensions", "n_dimensions"),
    },
    "LsaView": _view,
    "PpmiView": {**_view, "n_terms=": whole(1)},
    "SubwordView": {**_view, "terms=": words()},
    "LinearStudent": {
        "estimator=": optional(_template),
        "labelled_weights_ weights_": _floats("n_columns", "n_classes"),
        "offsets_": _floats("n_classes"),
    },
    "RecipeFeatures": {
        "encoder_": optional(_fitted("VectorView")),
        "n_words_": whole(),
        "phrase_weighting_": optional(_weighting),
        "phrases_ words_": _indices(None),
        "tables_": mapping(text(), instance(*_VIEWS)),
        "word_weighting_": _weighting,
        ": words_ or phrases_ do not fit the columns": _recipe_columns,
        ": tables_ or encoder_ do not fit the columns": _recipe_views,
    },
    "SemiSupervisedNaiveBayes": {
        **_columns,
        "class_log_prior_": _floats("n_classes", high=0),
        "converged_": flag,
        "feature_log_prob_": _floats("n_classes", "n_features", high=0),
        "n_iter_": whole(),
    },
    "SemiSupervisedClassifier": {
        **_columns,
        "student= voter=": either(text(), _template),
        "left_out_": optional(pair(_indices("n_left_out"), _left_out)),
        "class_share_": _floats("n_classes", low=0),
        "encoder_share_": optional(_share),
        "features_": _fitted("RecipeFeatures"),
        "recipe_": text(),
        "scale_": number(0),
        "student_weights_": mapping(text(), number(0)),
        "students_": mapping(text(), _part("LinearStudent", fitted=True)),
        "used_pool_": flag,
        "n_iter_?": whole(),
        ".student_weights_ do not fit the students": lambda it, at: (
            it.students_.keys() <= it.student_weights_.keys()
        ),
    },
    "ClassWeight": {
        "factors": either(none, text("balanced"), mapping(anything_plain, number(0))),
    },
    "ColumnsTemplate": {
        "counter": either(instance(*_COUNTERS), function),
        "encoder": _encoder,
        "joined shared": flag,
        "weighting": optional(instance("TfidfWeighting", fitted=False)),
    },
    "Plan": {
        "class_weight": instance("ClassWeight"),
        "columns": instance("ColumnsTemplate"),
        "columns_from_pool": flag,
        "estimator": _any_template,
        "name": text(),
        "seed": optional(whole()),
    },
    "EncoderColumns": {
        "encoder": _encoder,
        "n_spared": whole(),
        "probes": optional(_floats(None, None)),
        "table": optional(_floats("n_words", "n_columns")),
        "weighting": optional(_fitted("TfidfWeighting", n_features="n_words")),
        "width": size("n_columns"),
        ".table and weighting do not fit": lambda it, at: (
            (it.table is None) == (it.weighting is None)
        ),
    },
    "Block": {
        "counter": either(none, instance(*_COUNTERS, "EncoderColumns"), function),
        "kind": text("word", "phrase", "vector"),
        "known": none,
        "region": optional(text()),
        "weighting": optional(_fitted("TfidfWeighting", n_features="n_columns")),
        "width": size("n_columns"),
        ".width does not fit the counter": _width_fits,
        ".counter makes columns of another kind": lambda it, at: (
            it.counter is None
            or (it.kind == "vector") == (type(it.counter).__name__ == "EncoderColumns")
        ),
    },
    "Columns": {
        "blocks": sequence(instance("Block"), at_least=1),
        "regions": _regions,
        ".blocks do not fit the regions": _blocks_of_regions,
        " has no columns": _bind_width,
    },
    "TermSums": {
        "parts": sequence(_part("ClassStatistics"), "n_regions", at_least=1),
        "regions": _regions,
        ".parts must name their terms": lambda it, at: all(
            part.terms is not None for part in it.parts
        ),
        ".parts have different classes": lambda it, at: all(
            np.array_equal(part.classes, it.parts[0].classes) for part in it.parts
        ),
    },
    "TextModel": {
        "calibrator": optional(_part("TemperatureCalibrator")),
        "class_factor": optional(_floats("n_classes", low=0)),
        "columns": instance("Columns", n_features="n_features"),
        "model": _model(*_ESTIMATORS),
        "sums": none,
        "training_rows": optional(_indices(None)),
        ".calibrator is missing for its model": lambda it, at: (
            it.calibrator is not None
            or isinstance(it.model, decision.AnyOfClassifier)
            or hasattr(it.model, "predict_proba")
        ),
    },
    "Evidence": {
        "about_labels held_out probabilistic": flag,
        "certainty": _floats("n_answers", finite=False),
        "correct": _bits("n_answers"),
        "group": optional(_indices("n_answers")),
        "n_copies": whole(),
        "n_groups": whole(1),
        "novelty?": optional(_floats("n_answers", low=0, high=1)),
        ".group must be below n_groups": lambda it, at: (
            it.group is None or it.group.max(initial=-1) < it.n_groups
        ),
    },
    "NoveltyDetector": {
        "ngram_range=": _ngram_range,
        "terms_": _indices("n_terms", high=2**31 - 1),
        "counts_": csr("u", "n_documents", "n_terms", low=1, high=255),
        "dual_": _floats("n_documents", "n_columns"),
        "prior_": _floats("n_columns"),
        "calibration_": _floats(None),
        "neighbor_weight_?": number(0),
        # Both are looked up by bisection.
        ".terms_ must rise": lambda it, at: (np.diff(it.terms_) > 0).all(),
        ".calibration_ must not fall": lambda it, at: (
            np.diff(it.calibration_) >= 0
        ).all(),
    },
    "LearnedConfidence": {
        "bias plain_risk risk": number(),
        "mean scale weight": _floats("n_figures"),
    },
    "Threshold": {
        "value coverage error guaranteed max_error level": anything_plain,
        "n_documents n_answered n_errors n_missing": anything_plain,
        "n_pooled?": whole(1),
    },
    "TemperatureCalibrator": {
        "n_classes_": size("n_classes"),
        "temperature_": number(above=0),
    },
    "AnyOfClassifier": {
        "estimator=": either(_template, instance()),
        "classes_": _classes,
        "estimators_": sequence(
            either(_fitted(*_ESTIMATORS, n_features="n_features"), anything_plain),
            "n_classes",
        ),
        "input_": text("one", "indicator", "sets"),
        "cuts_": _floats("n_classes", finite=False),
        "n_features_in_?": size("n_features"),
    },
    "AbstainingClassifier": {
        "estimator=": either(_template, instance()),
        "any_of_": flag,
        "classes_": _classes,
        "estimator_": _model(*_ESTIMATORS),
        "n_features_in_?": size("n_features"),
        "cost_?": _floats(None, None),
        "class_sizes_?": _indices("n_classes"),
        "evidence_?": optional(instance("Evidence")),
        "learned_confidence_?": optional(instance("LearnedConfidence")),
        ".evidence_ is about other classes": _evidence_fits,
    },
    "TextClassifier": {
        "class_names=": either(
            none, text("auto"), mapping(anything_plain, anything_plain)
        ),
        "encoder=": _encoder,
        "features=": either(
            none, mapping(text(), anything_plain), instance(*_COUNTERS), function
        ),
        "model=": either(text(), _any_template),
        "regions=": either(
            none, text("email"), words(unique=True, at_least=1), function
        ),
        "classes_": _classes,
        "plan_": instance("Plan"),
        "text_model_": either(_part("TextModel"), _part("TermSums")),
        "evidence_": optional(instance("Evidence")),
        ".evidence_ is about other classes": _evidence_fits,
        "reasons_": words(),
        "class_sizes_?": optional(_indices("n_classes")),
        "learned_confidence_?": optional(instance("LearnedConfidence")),
        "n_columns_?": optional(whole(1, 2**20)),
        "novelty_?": optional(_fitted("NoveltyDetector")),
        ".n_columns_ does not fit the labels": _labels_are_columns,
    },
}

# Where the check that ``fit`` makes of the parameters is not ``_check_parameters``.
_CHECKS: dict[str, Callable[[State], object]] = {
    **dict.fromkeys(_COUNTERS, lambda counter: Analysis(counter).check()),
    "TextClassifier": methodcaller("_check_promise"),
    **dict.fromkeys(
        (name for name in _TABLE if "." in name), methodcaller("_validate_params")
    ),
}
# Class name in a file -> what its state must be.
SCHEMAS = {name: Schema(row, _CHECKS.get(name)) for name, row in _TABLE.items()}
