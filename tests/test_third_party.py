"""A model and a format of another package: all of earmark knows them.

The fixture installs a package with two files, ``tests/third_party``, beside earmark.
Every test asks a fresh interpreter that has it on its path; no file of earmark knows
its names.
"""

import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest

from tests.pages import ROOT

FILES = ROOT / "tests" / "third_party"
ENTRIES = """[earmark.models]
poisson = toys.poisson:MODEL
[earmark.formats]
arrows = toys.arrows:FORMAT
"""
SPAM = ("win a free prize", "cheap pills today", "free money for you", "you won it")
HAM = ("lunch at noon", "the meeting moved", "notes of the meeting", "see you at noon")
LINES = [
    f"{label} <- {text} {word}\n"
    for word in ("now", "please", "again", "soon", "monday", "friday")
    for label, texts in (("spam", SPAM), ("ham", HAM))
    for text in texts
]


class Answer(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    output: str


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """A folder with the installed package and documents in its format."""
    folder = tmp_path_factory.mktemp("toys")
    package, info = folder / "toys", folder / "toys-1.0.dist-info"
    shutil.copytree(FILES, package, ignore=shutil.ignore_patterns("__pycache__"))
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0")
    (info / "entry_points.txt").write_text(ENTRIES)
    (folder / "mails.arrows").write_text("".join(LINES))
    (folder / "parts").mkdir()
    for name, lines in (("one", LINES[::2]), ("two", LINES[1::2])):
        (folder / "parts" / f"{name}.arrows").write_text("".join(lines))
    return folder


def python(folder, *arguments, knows_toys=True):
    """What a fresh interpreter says that has the package on its path, or not."""
    paths = [str(ROOT), *([str(folder)] if knows_toys else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment |= {"COLUMNS": "200", "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return Answer(done.returncode, done.stdout + done.stderr)


def earmark(folder, *arguments, **how):
    return python(folder, "-m", "earmark", *arguments, **how)


def script(folder, *lines, **how):
    """The JSON that a script prints."""
    read = "mails = read_documents('mails.arrows')"
    begin = ("from earmark import TextClassifier", "import earmark, json")
    begin += ("from earmark.documents import read_documents", read)
    answer = python(folder, "-c", "\n".join([*begin, *lines]), **how)
    assert answer.status == 0, answer.output
    return json.loads(answer.output.splitlines()[-1])


FIT = "model = TextClassifier('poisson').fit(mails.texts, mails.labels)"


def test_it_trains_predicts_and_explains(toys):
    said = script(
        toys,
        FIT,
        "explained = model.explain(['free money at noon'])[0]",
        "print(json.dumps({",
        "    'class': type(model.model_).__module__,",
        "    'labels': model.predict(['free money', 'the meeting']).tolist(),",
        "    'sure': model.predict_proba(['free money']).max(),",
        "    'same': model.decide(['free money at noon']).labels[0]",
        "        == explained.label,",
        "    'words': str(explained),",
        "    'left out': model.leave_one_out(mails.texts, mails.labels).shape,",
        "}))",
    )
    assert said["class"] == "toys.poisson"
    assert said["labels"] == ["spam", "ham"]
    assert 0.5 < said["sure"] < 1
    assert said["same"]
    assert "money" in said["words"]
    assert said["left out"] == [len(LINES), 2]


def test_it_learns_from_text_without_a_matrix_as_from_one(toys):
    said = script(
        toys,
        FIT,
        "import numpy as np",
        "from toys.poisson import PoissonNaiveBayes",
        "counter = earmark.features.WordCounter()",
        "X = counter.fit_transform(mails.texts)",
        "other = PoissonNaiveBayes().fit(X, mails.labels)",
        "new = ['free money at noon', 'see you']",
        "gap = model.predict_log_proba(new)",
        "gap = gap - other.predict_log_proba(counter.transform(new))",
        "print(json.dumps(float(np.abs(gap).max())))",
    )
    assert said < 1e-12


def test_it_learns_and_forgets_documents_exactly(toys):
    said = script(
        toys,
        FIT,
        "few = TextClassifier('poisson').fit(mails.texts[:20], mails.labels[:20])",
        "few.partial_fit(mails.texts[20:], mails.labels[20:])",
        "new = ['free money at noon', 'see you']",
        "same = few.predict_proba(new) == model.predict_proba(new)",
        "few.forget(mails.texts[20:], mails.labels[20:])",
        "less = TextClassifier('poisson').fit(mails.texts[:20], mails.labels[:20])",
        "again = few.predict_proba(new) == less.predict_proba(new)",
        "print(json.dumps([bool(same.all()), bool(again.all())]))",
    )
    assert said == [True, True]


def test_parts_give_the_model_of_all_documents(toys):
    said = script(
        toys,
        FIT,
        "from earmark.distributed import fit",
        "parts = fit(TextClassifier('poisson'), 'parts')",
        "new = ['free money at noon', 'see you']",
        "same = parts.predict_proba(new) == model.predict_proba(new)",
        "print(json.dumps([bool(same.all()), parts.model_name_]))",
    )
    assert said == [True, "poisson"]


def test_it_promises_chooses_and_decides_as_our_own_models_do(toys):
    said = script(
        toys,
        "m = TextClassifier('poisson', max_error=0.2, max_novelty=0.1)",
        "m.fit(mails.texts, mails.labels)",
        "both = [[label, 'all'] for label in mails.labels]",
        "several = TextClassifier('poisson').fit(mails.texts, both)",
        "weighed = TextClassifier('poisson', class_weight='balanced')",
        "weighed.fit(mails.texts, mails.labels)",
        "regions = {'a': mails.texts, 'b': mails.texts[::-1]}",
        "two = TextClassifier('poisson').fit(regions, mails.labels)",
        "print(json.dumps([m.evidence_ is not None, m.novelty_ is not None,",
        "    several.predict(['free money'])[0], two.predict(regions).tolist()[:2],",
        "    weighed.predict(['free money']).tolist()]))",
    )
    assert said[:2] == [True, True]
    assert {*said[2]} == {"all", "spam"}
    assert said[3] == ["spam"] * 2
    assert said[4] == ["spam"]


def test_the_command_line_names_them(toys):
    listed = earmark(toys, "info", "--models").output
    line = next(line for line in listed.splitlines() if line.startswith("poisson"))
    assert "Poisson naive Bayes" in line
    assert "[also in parts]" in line
    wrong = earmark(toys, "train", "mails.arrows", "--model", "poison")
    assert wrong.status == 2
    assert "poisson" in wrong.output
    help_text = " ".join(earmark(toys, "train", "--help").output.split())
    assert "arrows" in help_text
    (toys / "odd.xyz").write_text("what")
    assert "'.arrows'" in earmark(toys, "train", "odd.xyz").output
    unknown = earmark(toys, "train", "mails.arrows", "--format", "arrow")
    assert unknown.status == 2
    assert "arrows" in unknown.output


def test_a_file_of_its_format_is_known_by_its_beginning(toys):
    shutil.copy(toys / "mails.arrows", toys / "mails.unknown")
    said = script(toys, "print(json.dumps(len(read_documents('mails.unknown'))))")
    assert said == len(LINES)


def test_compare_has_it_among_the_others(toys):
    answer = earmark(
        *(toys, "compare", "mails.arrows", "--models", "poisson"),
        *("--repeats", "2", "--json"),
    )
    assert answer.status == 0, answer.output
    assert '"poisson"' in answer.output


def test_the_tables_of_the_documentation_know_them(toys):
    answer = python(
        toys,
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT / 'docs' / '_ext')!r})\n"
        "import stored_tables as t\n"
        "print(*t.model_tables().values(), t.format_table(), t.format_suffixes())",
    )
    assert answer.status == 0, answer.output
    assert "| `poisson` | toys's `PoissonNaiveBayes` | Poisson naive" in answer.output
    assert "| `poisson` | yes | yes | yes |  |  |" in answer.output
    assert "`multinomial` and `poisson`" in answer.output
    assert "| `arrows` | `.arrows` | a label, an arrow" in answer.output


def test_no_file_of_earmark_knows_their_names():
    for folder in ("src", "docs"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8").lower()
            assert "arrows" not in text, path
            assert "poissonnaivebayes" not in text, path


def test_a_broken_package_stops_only_its_own_names(toys):
    broken = toys / "broken"
    info = broken / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0")
    entries = ENTRIES.replace("toys", "absent").replace("poisson =", "torn =")
    (info / "entry_points.txt").write_text(entries)
    said = script(
        toys,
        f"import sys; sys.path.insert(0, {str(broken)!r})",
        "model = TextClassifier('multinomial').fit(mails.texts, mails.labels)",
        "model.save('plain.earmark')",
        "earmark.load('plain.earmark')",
        "try:",
        "    TextClassifier('torn').fit(mails.texts, mails.labels)",
        "except earmark.exceptions.EarmarkError as error:",
        "    print(json.dumps(str(error)))",
    )
    assert "Repair or uninstall the package of broken" in said


# -- model files -----------------------------------------------------------------


def test_a_saved_model_is_loaded_where_the_package_is_installed(toys):
    saved = script(
        toys,
        FIT,
        "model.save('saved.earmark')",
        "print(json.dumps(model.predict_proba(['free money at noon']).tolist()))",
    )
    loaded = "model = earmark.load('saved.earmark')"
    lines = "print(json.dumps(model.predict_proba(['free money at noon']).tolist()))"
    assert script(toys, loaded, lines) == saved
    twice = ("model.save('again.earmark')", "print(0)")
    script(toys, FIT, *twice)
    assert (toys / "saved.earmark").read_bytes() == (
        toys / "again.earmark"
    ).read_bytes()


def test_load_refuses_a_model_that_is_not_registered_here(toys):
    script(toys, FIT, "model.save('here.earmark')", "print(0)")
    answer = earmark(toys, "explain", "here.earmark", "free", knows_toys=False)
    assert answer.status == 1
    assert "poisson" in answer.output
    assert "Traceback" not in answer.output


def test_damaged_bytes_are_refused(toys):
    said = script(
        toys,
        FIT,
        "model.save('whole.earmark')",
        "from pathlib import Path",
        "from earmark.exceptions import ModelFormatError",
        "data = Path('whole.earmark').read_bytes()",
        "refused = 0",
        "places = range(0, len(data), max(1, len(data) // 50))",
        "for i in places:",
        "    other = bytearray(data); other[i] ^= 1",
        "    Path('damaged.earmark').write_bytes(other)",
        "    try:",
        "        earmark.load('damaged.earmark')",
        "    except ModelFormatError:",
        "        refused += 1",
        "print(json.dumps([refused, len(places)]))",
    )
    assert said[0] == said[1] > 20


def test_a_lie_about_its_parameter_or_its_sizes_is_refused(toys):
    said = script(
        toys,
        FIT,
        "from earmark.exceptions import ModelFormatError",
        "def refused(change):",
        "    one = TextClassifier('poisson').fit(mails.texts, mails.labels)",
        "    change(one)",
        "    try:",
        "        one.save('lie.earmark')",
        "        earmark.load('lie.earmark')",
        "    except ModelFormatError:",
        "        return True",
        "    return False",
        "def negative(one): one.plan_.estimator.alpha = -1.0",
        "def none(one): pass",
        "print(json.dumps([refused(negative), refused(none)]))",
    )
    assert said == [True, False]


def test_the_command_line_trains_predicts_explains_updates_and_forgets(toys):
    train = ("train", "mails.arrows", "--model", "poisson", "--out", "m.earmark")
    trained = earmark(toys, *train)
    assert trained.status == 0, trained.output
    assert "learned 2 classes" in trained.output
    for command, words in (
        (("predict", "m.earmark", "mails.arrows"), "spam"),
        (("explain", "m.earmark", "free money"), "money"),
        (("evaluate", "m.earmark", "mails.arrows"), "are right"),
        (("update", "m.earmark", "mails.arrows"), "exactly"),
        (("forget", "m.earmark", "mails.arrows"), "exactly"),
        (("info", "m.earmark"), "poisson"),
        (("card", "m.earmark"), "poisson"),
    ):
        answer = earmark(toys, *command)
        assert answer.status == 0, answer.output
        assert words in answer.output


def test_the_command_line_trains_and_predicts_part_by_part(toys):
    trained = earmark(
        *(toys, "train", "parts", "--model", "poisson"),
        *("--memory", "1GB", "--out", "p.earmark"),
    )
    assert trained.status == 0, trained.output
    assert "in 2 parts" in trained.output
    answer = earmark(
        toys, "predict", "p.earmark", "parts", "--by-part", "--out", "labels"
    )
    assert answer.status == 0, answer.output
    assert len([*(toys / "labels").glob("*.parquet")]) == 2
