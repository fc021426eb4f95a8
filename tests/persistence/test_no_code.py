"""Loading a model never runs code from the file."""

import ast
import inspect
import pathlib
import subprocess
import sys
import textwrap

import earmark.persistence
from earmark.persistence import save_model

# The loader runs in its own process under an audit hook that remembers each event
# but open; importing scipy.sparse and scikit-learn beforehand is the only warm-up.
WATCHED = """
import sys
import numpy, scipy.sparse, earmark.models.shared.sklearn_linear
from earmark.exceptions import ModelFormatError
from earmark.persistence import load_model, read_manifest

class Plain: pass
class Estimator: pass
class Slotted:
    __slots__ = ("counts",)
    def __setstate__(self, state):
        self.counts = dict(state["pairs"])

table = {"Plain": Plain, "Estimator": Estimator, "Slotted": Slotted}
# scikit-learn reads the signatures of its own constructors.
harmless = {"open", "builtins.id", "object.__getattr__"}
seen = []
watching = False

def hook(event, arguments):
    if watching and event not in harmless:
        seen.append((event, str(arguments)[:200]))

sys.addaudithook(hook)
watching = True
outcomes = []
for path in sys.argv[1:]:
    for read in (lambda: load_model(path, table), lambda: read_manifest(path)):
        try:
            outcomes.append(type(read()).__name__)
        except ModelFormatError:
            outcomes.append("refused")
print(outcomes)
print(seen)
# The same hook does see code, so that its silence means something.
exec("pass")
watching = False
print(seen)
"""


def watch(*paths):
    """Outcomes and audit events of loading these files, and then of an exec."""
    run = subprocess.run(
        [sys.executable, "-c", WATCHED, *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes, seen, after = map(ast.literal_eval, run.stdout.splitlines())
    return outcomes, seen, after


def test_loading_raises_no_audit_event_but_open(kit, tmp_path):
    from sklearn.linear_model import RidgeClassifier, SGDClassifier

    X, y = [[0.0, 1.0], [1.0, 0.0]], ["a", "b"]
    model = kit.example()
    model.linear = [SGDClassifier().fit(X, y), RidgeClassifier().fit(X, y)]
    good = tmp_path / "good.earmark"
    save_model(model, good, kit.TABLE)

    names = ["os.system", "sklearn.Pipeline", "builtins.exec", "subprocess.Popen"]
    hostile = []
    for name in names:
        tree = {"$": "object", "class": name, "state": {"args": "touch x"}}
        hostile.append(tmp_path / f"{name}.earmark")
        hostile[-1].write_bytes(kit.forged(tree))
    # Protocol 0 code that would call os.system, alone and behind a model.
    bomb = b"cos\nsystem\n(S'touch pwned'\ntR."
    for number, content in enumerate((bomb, good.read_bytes() + bomb)):
        hostile.append(tmp_path / f"bomb{number}.earmark")
        hostile[-1].write_bytes(content)

    outcomes, seen, after = watch(good, *hostile)
    assert seen == []
    assert "exec" in {event for event, _ in after}, "the hook is awake"
    assert outcomes[:2] == ["Plain", "ModelInfo"]
    # What a class name means is known only to load, so info still answers for those.
    assert outcomes[2:] == ["refused", "ModelInfo"] * len(names) + ["refused"] * 4


def test_no_module_of_the_load_path_imports_a_code_loader():
    forbidden = {
        "pickle",
        "joblib",
        "importlib",
        "marshal",
        "shelve",
        "dill",
        "cloudpickle",
        "runpy",
        "subprocess",
        "ctypes",
        "zipfile",
        "tempfile",
    }
    calls = {"eval", "exec", "compile", "__import__", "globals", "open_code"}
    folder = pathlib.Path(inspect.getfile(earmark.persistence)).parent
    modules = sorted(folder.glob("*.py"))
    assert len(modules) >= 6
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            elif isinstance(node, ast.Name):
                assert node.id not in calls, module.name
            for name in names:
                assert name.partition(".")[0] not in forbidden, module.name
                if name.partition(".")[0] == "numpy":
                    assert name in ("numpy", "numpy.typing"), module.name
            # numpy.load and its relatives would unpickle object arrays.
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("load", "fromfile", "loads_pickle"), (
                    module.name
                )


def test_importing_persistence_loads_no_scikit_learn():
    script = """
    import sys
    import earmark.persistence
    heavy = {"sklearn", "scipy", "joblib", "pickle"} & set(sys.modules)
    print(sorted(heavy - before_numpy))
    """
    before = "import numpy, sys\nbefore_numpy = set(sys.modules)\n"
    code = before + textwrap.dedent(script)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
