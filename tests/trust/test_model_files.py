"""A model file that is well formed and lies is refused before it is used."""

import copy
import importlib
import os
import pkgutil
import tracemalloc

import numpy as np
import pytest

from earmark import TextClassifier, decision, features, load, models
from earmark.exceptions import ModelFormatError
from earmark.models.base.declaration import MODELS
from earmark.persistence import tensor_file
from earmark.pipeline.files import class_table
from earmark.stored import STORED
from tests.trust import model_fuzzer
from tests.trust.model_kinds import N_HASHED, TEXTS, classifiers, kinds, named


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A saved model of each kind that was attacked."""
    path = tmp_path_factory.mktemp("models") / "model.earmark"
    saved = {}
    for name in sorted({model for model, *_ in TENSORS}):
        named(name, 3).save(path)
        saved[name] = tensor_file.read(path)
    return saved


def resized(array):
    return np.concatenate([array, array[:1]])


def shorter(array):
    return array[: len(array) // 2]


def turned(array):
    return np.ascontiguousarray(array.T)


def set_first(value):
    def change(array):
        changed = array.copy()
        changed.reshape(-1)[0] = value
        return changed

    return change


# What ended in a heap-buffer-overflow or worse: the model, the tensor, the change.
TENSORS = [
    (
        "LinearSVC",
        "columns.blocks[0].weighting.document_frequency_",
        shorter,
    ),
    ("softmax", "columns.blocks[0].weighting.document_frequency_", resized),
    ("rocchio", "columns.blocks[0].weighting.document_frequency_", shorter),
    ("LinearSVC", "model.coef_", turned),
    ("LinearSVC", "model.coef_", shorter),
    ("LinearSVC", "model.coef_", set_first(1e308)),
    ("softmax", "model._weights", shorter),
    ("softmax", "model._weights", turned),
    ("softmax", "model._offset", shorter),
    ("linear", "model.weights_", shorter),
    ("linear", "model.weights_", set_first(np.nan)),
    ("multinomial", "parts[0].tokens.indices", set_first(10**6)),
    ("multinomial", "parts[0].tokens.indices", set_first(-1)),
    ("multinomial", "parts[0].tokens.indptr", set_first(1)),
    ("multinomial", "parts[0].tokens.data", set_first(2**62)),
    ("multinomial", "parts[0].presence.data", shorter),
    ("multinomial", "parts[0].presence.data", set_first(-5)),
    ("multinomial", "parts[0].classes", shorter),
    ("rocchio", "model.statistics_.sums.indices", set_first(10**6)),
    ("rocchio", "model.statistics_.sums.data", shorter),
    ("knn", "model.vectors_.indices", set_first(10**6)),
    ("knn", "model.vectors_.data", set_first(np.inf)),
    ("knn", "model.targets_", set_first(7)),
    ("hybrid", "model.statistics_.parts[0].presence.data", shorter),
    ("hybrid", "model.statistics_.columns[0]", set_first(10**6)),
    ("higher-order", "model.documents_.indices", set_first(10**6)),
    ("higher-order", "model.document_class_", set_first(9)),
    ("higher-order-svm", "model.log_present_", set_first(-np.inf)),
]


def within(name):
    return f"TextClassifier.text_model_.{name}"


@pytest.mark.parametrize(
    ("model", "tensor", "change"),
    TENSORS,
    ids=[f"{model} {tensor}" for model, tensor, _ in TENSORS],
)
def test_a_tensor_that_does_not_fit_is_refused(files, tmp_path, model, tensor, change):
    file = files[model]
    tensors = dict(file.tensors)
    tensors[within(tensor)] = change(tensors[within(tensor)])
    path = tmp_path / "lie.earmark"
    path.write_bytes(b"".join(tensor_file.build(file.manifest, tensors)))
    with pytest.raises(ModelFormatError, match=r"lie\.earmark: .*TextClassifier"):
        load(path)


def counter(tree):
    return tree["state"]["plan_"]["state"]["columns"]["state"]["counter"]["state"]


def ngrams(*bounds):
    return {"$": "tuple", "items": list(bounds)}


TREES = {
    "n-grams of nothing": lambda t: counter(t).update(ngram_range=ngrams(1, 0)),
    "n-grams without end": lambda t: counter(t).update(ngram_range=ngrams(1, 2**31)),
    "no pattern": lambda t: counter(t).update(token_pattern="("),
    "a class in another's place": lambda t: t["state"].update(
        text_model_={"$": "object", "class": "Ranking", "state": {}}
    ),
    "a decision for a model": lambda t: t["state"].update(
        text_model_={"$": "object", "class": "Decision", "state": {}}
    ),
    "another model's class": lambda t: t["state"]["text_model_"].update(
        {"class": "TextModel"}
    ),
    "no model": lambda t: t["state"].pop("text_model_"),
    "one more attribute": lambda t: t["state"].update(hook_=1),
    "an illegal parameter": lambda t: t["state"]["plan_"]["state"]["estimator"][
        "state"
    ].update(alpha=-1.0),
    "an impossible promise": lambda t: t["state"].update(max_error=7),
}


@pytest.mark.parametrize("case", TREES)
def test_a_tree_that_does_not_fit_is_refused(files, tmp_path, case):
    file = files["multinomial"]
    manifest = copy.deepcopy(file.manifest)
    TREES[case](manifest["tree"])
    tensors = file.tensors
    if "model" in case or "place" in case:
        tensors = {n: v for n, v in tensors.items() if "text_model_" not in n}
    path = tmp_path / "lie.earmark"
    path.write_bytes(b"".join(tensor_file.build(manifest, tensors)))
    with pytest.raises(ModelFormatError, match=r"lie\.earmark: "):
        load(path)


def test_evidence_about_other_classes_is_refused(tmp_path):
    path = tmp_path / "lie.earmark"
    dict(kinds())["multinomial, promise"]().save(path)
    file = tensor_file.read(path)
    file.manifest["tree"]["state"]["evidence_"]["state"]["n_groups"] = 2
    path.write_bytes(b"".join(tensor_file.build(file.manifest, file.tensors)))
    with pytest.raises(ModelFormatError, match="evidence_ is about other classes"):
        load(path)


def test_threads_that_a_file_asks_for_are_not_started(files, tmp_path):
    file = files["multinomial"]
    manifest = copy.deepcopy(file.manifest)
    manifest["tree"]["state"]["n_jobs"] = 2**31
    counter(manifest["tree"])["n_jobs"] = 2**31
    path = tmp_path / "threads.earmark"
    path.write_bytes(b"".join(tensor_file.build(manifest, file.tensors)))
    classifier = load(path)
    assert classifier.n_jobs is None
    assert len(classifier.predict(TEXTS)) == len(TEXTS)


def test_a_file_from_before_a_parameter_came_is_read_with_its_default(files, tmp_path):
    file = files["multinomial"]
    manifest = copy.deepcopy(file.manifest)
    del manifest["tree"]["state"]["budget"]
    path = tmp_path / "older.earmark"
    path.write_bytes(b"".join(tensor_file.build(manifest, file.tensors)))
    classifier = load(path)
    assert classifier.budget is None
    assert len(classifier.predict(TEXTS)) == len(TEXTS)


def test_the_number_of_jobs_does_not_show_in_a_file(tmp_path):
    for name, jobs in (("one", 1), ("two", 2)):
        model = TextClassifier("multinomial", n_jobs=jobs)
        model.fit(["good", "bad"], ["a", "b"]).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_every_class_that_is_declared_can_be_named():
    assert {*STORED} <= {*class_table()}


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory):
    """The bytes of a file of each kind."""
    path = tmp_path_factory.mktemp("kinds") / "model.earmark"
    content = {}
    for name, classifier in classifiers():
        classifier.save(path, allow_callables=True)
        content[name] = path.read_bytes()
    return content


# They make columns of matrices, which no text classifier holds.
NOT_IN_FILES = {"HigherOrderTransformer", "TermSelector"}


def test_every_class_that_files_may_hold_is_in_a_file_that_is_fuzzed(
    every_kind, tmp_path
):
    path, met = tmp_path / "model.earmark", set()
    for package in (decision, features, models):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for content in every_kind.values():
        path.write_bytes(content)
        met |= model_fuzzer.class_names(tensor_file.read(path).manifest["tree"])
    every = {name: kind for name, kind in STORED.items() if own(kind)}
    bases = {base for kind in every.values() for base in kind.__mro__[1:]}
    expected = {name for name, kind in every.items() if kind not in bases}
    assert expected - met == NOT_IN_FILES, "add a kind to tests/trust/model_kinds.py"


def own(kind):
    return kind.__module__.startswith("earmark.")


def test_a_changed_byte_is_refused_in_a_file_of_every_kind(every_kind, tmp_path):
    path, chooser = tmp_path / "model.earmark", np.random.default_rng(0)
    for content in every_kind.values():
        for place in chooser.integers(len(content), size=20):
            changed = bytearray(content)
            changed[place] ^= int(chooser.integers(1, 256))
            path.write_bytes(changed)
            with pytest.raises(ModelFormatError, match=r"damaged|not an earmark"):
                load(path)


@pytest.mark.parametrize("width", [2**23, 2**24, 10**8, 2**31 - 1])
def test_widths_that_agree_in_a_lie_take_no_memory(every_kind, tmp_path, width):
    path = tmp_path / "lie.earmark"
    for name in MODELS.names():
        path.write_bytes(every_kind[f"{name}, hashed"])
        file = tensor_file.read(path)
        model_fuzzer.change_all(file.manifest["tree"], N_HASHED, width)
        path.write_bytes(b"".join(tensor_file.build(file.manifest, file.tensors)))
        tracemalloc.start()
        try:
            load(path)
        except ModelFormatError:
            pass
        else:
            assert width <= 2**24, name
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 2**30, name


def test_hashed_columns_of_a_file_are_limited(every_kind, tmp_path):
    path = tmp_path / "lie.earmark"
    path.write_bytes(every_kind["softmax, signed"])
    file = tensor_file.read(path)
    model_fuzzer.change_all(file.manifest["tree"], 64, 2**24 + 1)
    path.write_bytes(b"".join(tensor_file.build(file.manifest, file.tensors)))
    with pytest.raises(
        ModelFormatError, match=r"n_features must be in \[1, 16777216\]"
    ):
        load(path)


def test_dense_weights_of_next_to_no_counts_are_refused(every_kind, tmp_path):
    path = tmp_path / "lie.earmark"
    for name in ("bernoulli", "rocchio"):
        path.write_bytes(every_kind[f"{name}, hashed"])
        file = tensor_file.read(path)
        model_fuzzer.change_all(file.manifest["tree"], N_HASHED, 2**24)
        path.write_bytes(b"".join(tensor_file.build(file.manifest, file.tensors)))
        with pytest.raises(ModelFormatError, match="too many columns for its"):
            load(path)


def test_a_class_of_which_there_is_no_object_cannot_be_named(files, tmp_path):
    file = files["linear"]
    manifest = copy.deepcopy(file.manifest)
    manifest["tree"]["state"]["plan_"]["state"]["estimator"].update(
        {"class": "DescentClassifier", "state": {}}
    )
    path = tmp_path / "lie.earmark"
    path.write_bytes(b"".join(tensor_file.build(manifest, file.tensors)))
    with pytest.raises(ModelFormatError, match="DescentClassifier"):
        load(path)


def test_changed_files_are_refused_or_answer():
    outcomes = model_fuzzer.fuzz(300, seed=0)
    assert outcomes["refused"] > 200
    assert outcomes["answered"] > 10
    assert sum(outcomes.values()) == 300


@pytest.mark.trust
def test_fifty_thousand_changed_files_under_sanitizers(package, run_sanitized):
    count = os.environ.get("EARMARK_FUZZ_MUTANTS", "50000")
    done = run_sanitized(package, "tests/trust/model_fuzzer.py", count, "1")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_the_fuzzer_sees_a_wrong_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(TextClassifier, "predict", lambda self, X: [])
    with pytest.raises(AssertionError):
        model_fuzzer.fuzz(1, seed=0, only="multinomial")
