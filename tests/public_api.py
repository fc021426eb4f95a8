"""The public API as text: names and signatures, one per line.

    python tests/public_api.py > tests/public_api.txt

renews the snapshot that tests/test_public_api.py compares with.

A class stands with its constructor, the base classes of ours that give it more, and
in brackets what it has of scikit-learn's contract and its derived fitted attributes.
Then come its own members. What it inherits, or overrides with the same signature,
is listed once, under the base class.
"""

import importlib
import inspect
import sys
from functools import cached_property

import earmark

# The modules whose ``__all__`` is the public API.
MODULES = [
    "earmark",
    *(
        f"earmark.{name}"
        for name in sorted(earmark.__all__)
        if inspect.ismodule(getattr(earmark, name))
    ),
]

# What estimators and vectorizers of scikit-learn have in these words.
CONTRACT = {
    "build_analyzer(self)",
    "build_preprocessor(self)",
    "build_tokenizer(self)",
    "decision_function(self, X)",
    "fit(self, X, y)",
    "fit(self, X, y, sample_weight=None)",
    "fit(self, X, y=None)",
    "fit(self, X=None, y=None)",
    "fit(self, raw_documents, y=None)",
    "fit_transform(self, X, y=None)",
    "fit_transform(self, raw_documents, y=None)",
    "get_feature_names_out(self, input_features=None)",
    "get_metadata_routing(self)",
    "get_stop_words(self)",
    "inverse_transform(self, X)",
    "partial_fit(self, X, y, classes=None, sample_weight=None)",
    "partial_fit(self, X, y=None)",
    "partial_fit(self, X=None, y=None)",
    "partial_fit(self, raw_documents, y=None)",
    "predict(self, X)",
    "predict_log_proba(self, X)",
    "predict_proba(self, X)",
    "score(self, X, y, sample_weight=None)",
    "score_samples(self, X)",
    "set_params(self, **params)",
    "transform(self, X)",
    "transform(self, raw_documents)",
}


def members(module):
    """Public names of a module with their objects; submodules are listed apart."""
    names = sorted(importlib.import_module(module).__all__)
    objects = {name: getattr(importlib.import_module(module), name) for name in names}
    return {name: obj for name, obj in objects.items() if not inspect.ismodule(obj)}


def describe():
    """All lines of the snapshot."""
    lines, bases = [], {}
    for module in MODULES:
        for name, obj in members(module).items():
            full = f"{module}.{name}"
            if inspect.isclass(obj):
                lines += _class_lines(full, obj)
                bases |= {base: None for base in _bases(obj)}
            elif callable(obj):
                lines.append(f"{full}{_signature(obj)}")
            else:
                lines.append(full)
    for base in sorted(bases, key=lambda base: base.__qualname__):
        head, *rest = _class_lines(f"base {base.__name__}", base)
        lines += [head, *rest] if "[" in head else rest
    return lines


def _class_lines(full, cls):
    """The class with its bases and its contract, then what is its own."""
    own = dict(_own_members(cls))
    inherited = {line for base in _bases(cls) for line in dict(_own_members(base))}
    contract = {name for line, name in own.items() if line in CONTRACT}
    contract |= {name for line, name in own.items() if _is_fitted_attribute(line)}
    rest = [
        line
        for line, name in own.items()
        if name not in contract and line not in inherited
    ]
    giving = [base.__name__ for base in _bases(cls) if dict(_own_members(base))]
    head = full if full.startswith("base ") else f"{full}{_constructor(cls)}"
    head += f" <- {', '.join(giving)}" if giving else ""
    head += f" [{', '.join(sorted(contract))}]" if contract else ""
    return [head, *(f"{full}.{line}" for line in sorted(rest))]


def _bases(cls):
    """The classes of ours that it inherits from, nearest first."""
    return [
        base
        for base in inspect.getmro(cls)[1:]
        if base.__module__.startswith("earmark") and not issubclass(base, BaseException)
    ]


def _own_members(cls):
    """Public methods and properties that the class itself defines: line, name."""
    for name, value in vars(cls).items():
        if name.startswith("_") or _is_routing(name):
            continue
        # Of a classmethod and a staticmethod, and of a method that is offered only
        # where the model can do it (``offered_if``, scikit-learn's ``available_if``).
        plain = getattr(value, "__wrapped__", getattr(value, "__func__", value))
        if isinstance(value, property | cached_property):
            yield f"{name} (property)", name
        elif inspect.isfunction(plain):
            yield f"{name}{_signature(plain)}", name


def _is_fitted_attribute(line):
    """Whether it is a property named as scikit-learn names what ``fit`` sets."""
    return line.endswith("_ (property)")


def _is_routing(name):
    """Whether scikit-learn adds the method to every estimator by itself."""
    return name.startswith("set_") and name.endswith("_request")


def _constructor(cls):
    if issubclass(cls, BaseException):
        return f"({', '.join(base.__name__ for base in cls.__bases__)})"
    return _signature(cls)


def _signature(obj):
    """Names, kinds and defaults; no annotations, which Python versions spell apart."""
    signature = inspect.signature(obj)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    plain = signature.replace(parameters=bare, return_annotation=signature.empty)
    return str(plain)


if __name__ == "__main__":
    sys.stdout.write("\n".join(describe()) + "\n")
