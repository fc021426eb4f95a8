"""What an import brings along: of scikit-learn its base, and nothing that waits."""

import subprocess
import sys

import pytest

# Imported where they are used, in functions.
SELDOM = {
    "earmark.apps",
    "earmark.documents",
    "matplotlib",
    "sklearn.decomposition",
    "sklearn.feature_extraction",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.svm",
}


def loaded(statement):
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


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
    assert loaded(statement) & SELDOM == set()


def test_earmark_itself_imports_nothing_of_scikit_learn():
    assert "sklearn" not in loaded("import earmark")
    assert "sklearn" not in loaded("import earmark.apps.cli.main")
