"""Change model files at random, mend the checksum, load and use them.

    python tests/trust/model_fuzzer.py COUNT SEED

Every outcome must be a ModelFormatError from ``load``, or answers of the right shape.
Meant for a build with sanitizers too: any bad access ends the process.
"""

from __future__ import annotations

import copy
import json
import os
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from earmark import TextClassifier, load
from earmark.exceptions import DataError, ModelFormatError, NotSupportedError
from earmark.persistence import tensor_file
from earmark.stored import STORED
from tests.trust.model_kinds import classifiers, encoder, questions

SECONDS = 10
MOST_FAILURES = 20
MEMORY = 2**30
NUMBERS = [
    -1,
    0,
    1,
    2,
    3,
    7,
    2**31 - 1,
    2**31,
    2**53,
    2**62,
    -(2**62),
    0.5,
    -0.5,
    1e308,
]
NODES = [
    {"$": "float", "bits": "7ff8000000000000"},
    {"$": "float", "bits": "7ff0000000000000"},
    {"$": "tuple", "items": [1, 0]},
    {"$": "tuple", "items": [1, 2**20]},
    {"$": "tuple", "items": []},
    {"$": "dict", "keys": [], "values": []},
    {"$": "type", "name": "object"},
    {"$": "type", "name": "numpy.float16"},
]
JUNK = [*NUMBERS, *NODES, None, True, False, "", "x", "word", "(", "\x00", [], [1], {}]
# What all equal numbers of a file become at once, such as a width.
WIDTHS = [-1, 0, 1, 2, 2**16, 2**20, 2**24, 2**24 + 1, 10**8, 2**31 - 1, 2**62]
ACTIONS = ["cut", "grow", "turn", "type", "value", "values", "swap", "drop", "empty"]
EXTREMES = [np.nan, np.inf, -np.inf, -1, 0, 1, 2**31, 2**53, 2**62, -(2**63), 1e308]


def spots(node: object, found: list) -> list:
    """All (container, key) of a JSON tree."""
    if isinstance(node, (dict, list)):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            found.append((node, key))
            spots(node[key], found)
    return found


def change_all(tree: object, old: int, new: int) -> None:
    """Make every number that is ``old`` another one: numbers that agree in a lie."""
    for holder, key in spots(tree, []):
        if type(holder[key]) is int and holder[key] == old:
            holder[key] = new


def change_tree(chooser: random.Random, tree: dict, classes: list[str]) -> None:
    """Change one place of the tree, or all numbers that are equal."""
    places = spots(tree, [])
    holder, key = chooser.choice(places)
    action = chooser.random()
    numbers = sorted({h[k] for h, k in places if type(h[k]) is int and h[k] > 2})
    if action < 0.1 and numbers:
        change_all(tree, chooser.choice(numbers), chooser.choice(WIDTHS))
    elif action < 0.2:
        named = [(h, k) for h, k in places if k == "class"]
        holder, key = chooser.choice(named)
        holder[key] = chooser.choice(classes)
    elif action < 0.33:
        other, other_key = chooser.choice(places)
        holder[key] = copy.deepcopy(other[other_key])
    elif action < 0.42:
        del holder[key]
    elif action < 0.5 and isinstance(holder, dict):
        other, other_key = chooser.choice(places)
        holder[str(other_key)] = copy.deepcopy(other[other_key])
    else:
        holder[key] = copy.deepcopy(chooser.choice(JUNK))


def change_tensor(chooser: random.Random, tensors: dict[str, np.ndarray]) -> None:
    """Change one tensor: its length, shape, type, values, or which it is."""
    name = chooser.choice(sorted(tensors))
    array = tensors[name].copy()
    action = chooser.choice(
        ["cut", "grow", "turn", "type", "value", "values", "swap", "drop", "empty"]
    )
    if action == "cut" and array.ndim:
        array = array[: max(0, len(array) - chooser.choice([1, 2, len(array) // 2]))]
    elif action == "grow" and array.ndim and len(array):
        array = np.concatenate([array, array[: chooser.choice([1, 2, len(array)])]])
    elif action == "turn":
        array = array.T if array.ndim > 1 else array.reshape(-1, 1)
    elif action == "type":
        with np.errstate(all="ignore"):
            array = array.astype(chooser.choice(["f8", "f4", "i8", "i4", "u1", "?"]))
    elif action == "value" and array.size:
        flat = array.reshape(-1)
        place, value = chooser.randrange(array.size), chooser.choice(EXTREMES)
        with np.errstate(all="ignore"):
            flat[place] = np.array([value]).astype(array.dtype)[0]
    elif action == "values" and array.size:
        flat = array.reshape(-1)
        flat[:] = flat[[chooser.randrange(array.size) for _ in range(array.size)]]
    elif action == "swap":
        other = chooser.choice(sorted(tensors))
        tensors[other], array = array, tensors[other]
    elif action == "drop":
        del tensors[name]
        return
    elif action == "empty":
        array = np.zeros((0,) * max(array.ndim, 1), array.dtype)
    tensors[name] = np.ascontiguousarray(array)


def mutant(
    chooser: random.Random, file: tensor_file.TensorFile, classes: list
) -> bytes:
    """The bytes of a file with one or two changes, its checksum right."""
    manifest, tensors = copy.deepcopy(file.manifest), dict(file.tensors)
    for _ in range(chooser.choice([1, 1, 1, 2])):
        if chooser.random() < 0.5 and tensors:
            change_tensor(chooser, tensors)
        else:
            change_tree(chooser, manifest["tree"], classes)
    return b"".join(tensor_file.build(manifest, tensors))


def class_names(tree: object) -> set[str]:
    """The classes that a tree names."""
    named = {h[k] for h, k in spots(tree, []) if k == "class" and isinstance(h[k], str)}
    return {name for name in named if name in STORED or name.startswith("sklearn.")}


def explains(classifier: TextClassifier, texts: object) -> bool:
    """Whether a classifier is a sum over terms that can be named."""
    try:
        return len(classifier.explain(texts)) == len(classifier.predict(texts))
    except NotSupportedError:
        return False


def use(path: Path, name: str, *, explained: bool = False) -> str:
    """Load a file and ask it: what came of it, or an error if it is no good answer."""
    given = {"encoder": encoder} if name == "encoder" else {}
    try:
        classifier = load(path, **given)
    except ModelFormatError:
        return "refused"
    except NotSupportedError:  # a change of where the encoder is to be given again
        assert name == "encoder"
        return "refused"
    texts = questions(name)
    n_documents, n_classes = 5, len(classifier.classes_)
    try:
        answers = classifier.predict(texts)
    except DataError as error:
        # What a promise rests on is not there, or the model is one of other columns.
        novel = classifier.max_novelty is not None and classifier.novelty_ is None
        unsure = classifier.max_error is not None and classifier.evidence_ is None
        other = "the columns" in str(error) or "use the same encoder" in str(error)
        if novel or unsure or other:
            return "refused"
        raise
    assert len(answers) == n_documents
    assert classifier.predict_proba(texts).shape == (n_documents, n_classes)
    if explained:
        assert len(classifier.explain(texts)) == n_documents
    return "answered"


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(count: int, seed: int, only: str | None = None) -> Counter:
    """Try ``count`` mutants over all kinds; the outcomes by their number."""
    chooser = random.Random(seed)
    outcomes: Counter = Counter()
    failures: list[Exception] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.earmark")
        files, explained = {}, {}
        for name, classifier in classifiers():
            if only in (None, name):
                classifier.save(path, allow_callables=True)
                files[name] = tensor_file.read(path)
                explained[name] = explains(classifier, questions(name))
                assert use(path, name, explained=explained[name]) == "answered", name
        named = (class_names(file.manifest["tree"]) for file in files.values())
        classes = sorted({*STORED}.union(*named))
        names, before = list(files), peak()
        # A sanitizer gives memory back late.
        memory = MEMORY * (8 if "ASAN_OPTIONS" in os.environ else 1)
        for number in range(count):
            name = names[number % len(names)]
            content = mutant(chooser, files[name], classes)
            path.write_bytes(content)
            started = time.process_time()
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    outcomes[use(path, name, explained=explained[name])] += 1
                assert time.process_time() - started < SECONDS
                assert peak() - before < memory + 4 * len(content)
            except Exception as error:
                kept = Path(tempfile.gettempdir(), f"mutant-{seed}-{number}.earmark")
                kept.write_bytes(content)
                error.add_note(
                    f"{name}: mutant {number} of seed {seed}, kept as {kept}"
                )
                failures.append(error)
                if len(failures) == MOST_FAILURES:
                    break
    if failures:
        raise ExceptionGroup("neither refused nor answered", failures)
    return outcomes


if __name__ == "__main__":
    sys.stdout.write(json.dumps(fuzz(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
