"""The public API as text: names and signatures, one per line.

    python tests/public_api.py > tests/public_api.txt

renews the snapshot that tests/test_public_api.py compares with.
"""

import importlib
import inspect
import sys

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


def members(module):
    """Public names of a module with their objects; submodules are listed apart."""
    names = sorted(importlib.import_module(module).__all__)
    found = {name: getattr(importlib.import_module(module), name) for name in names}
    return {name: obj for name, obj in found.items() if not inspect.ismodule(obj)}


def describe():
    """All lines of the snapshot."""
    lines = []
    for module in MODULES:
        for name, obj in members(module).items():
            full = f"{module}.{name}"
            if inspect.isclass(obj):
                lines.append(f"{full}{_constructor(obj)}")
                lines += [f"{full}.{line}" for line in sorted(_class_members(obj))]
            elif callable(obj):
                lines.append(f"{full}{_signature(obj)}")
            else:
                lines.append(full)
    return lines


def _class_members(cls):
    """Public methods and properties that are defined in earmark, not in its bases."""
    seen = set()
    for owner in inspect.getmro(cls):
        if not owner.__module__.startswith("earmark"):
            continue
        for name, value in vars(owner).items():
            if name.startswith("_") or name in seen or _is_routing(name):
                continue
            seen.add(name)
            # classmethod and staticmethod, and scikit-learn's available_if.
            plain = getattr(value, "__func__", getattr(value, "fn", value))
            if isinstance(value, property):
                yield f"{name} (property)"
            elif inspect.isfunction(plain):
                yield f"{name}{_signature(plain)}"


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
