"""What an import brings along: no more than is used, and nothing is lost by it."""

import subprocess
import sys
import textwrap

import pytest


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    "statement",
    [
        "import earmark; earmark.TextClassifier",
        "from earmark.models import MultinomialNaiveBayes",
        "from earmark.features import WordCounter",
        "from earmark.decision import AbstainingClassifier",
        "from earmark.evaluation import ConfusionMatrix",
    ],
)
def test_an_import_waits_with_what_is_seldom_used(statement):
    seldom = "{'scipy.stats', 'scipy.optimize', 'pandas'}"
    assert run(f"{statement}\nimport sys\nprint(*({seldom} & set(sys.modules)))") == []


def test_the_postponed_modules_are_the_real_ones_when_asked():
    assert run(
        """
        import earmark
        earmark.TextClassifier
        from sklearn.utils import fixes
        import scipy.stats, pandas, pandas.api.types
        print(fixes._mode([1, 2, 2]).mode[0], fixes.pd.DataFrame is pandas.DataFrame)
        print(scipy.stats.__name__, len(pandas.DataFrame({"a": [1]})))
        """
    ) == ["2", "True", "scipy.stats", "1"]


def test_a_package_that_is_not_installed_stays_so():
    assert run(
        """
        import sys
        from importlib.machinery import PathFinder
        search = PathFinder.find_spec
        PathFinder.find_spec = lambda name, *more: (
            None if name == "pandas" else search(name, *more)
        )
        import earmark
        earmark.TextClassifier
        from sklearn.utils import fixes
        print(fixes.pd, "pandas" in sys.modules)
        """
    ) == ["None", "False"]


def test_scikit_learn_that_is_there_is_left_alone():
    assert run(
        """
        import scipy.stats, pandas, sklearn.base, sys
        before = sys.modules["scipy.stats"], sys.modules["pandas"]
        import earmark
        earmark.TextClassifier
        print(before == (sys.modules["scipy.stats"], sys.modules["pandas"]))
        """
    ) == ["True"]
