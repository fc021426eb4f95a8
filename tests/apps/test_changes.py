"""What a model file remembers of the documents that it learned and forgot."""

from typer.testing import CliRunner

from earmark.apps.changes import has_learned, recorded
from earmark.apps.cli.main import app
from earmark.documents import Documents
from earmark.documents.document import fingerprint

FIRST = Documents(["the cat", "a car"], ["animal", "vehicle"])
MORE = Documents(["a dog"], ["animal"])
OTHER = Documents(["a truck"], ["vehicle"])
TRAINED = {
    "training_data": {
        "labelled": 2,
        "classes": {"animal": 1, "vehicle": 1},
        "fingerprint": fingerprint(FIRST),
    }
}


def test_what_was_learned_first_and_later_is_known():
    assert has_learned(TRAINED, FIRST)
    assert not has_learned(TRAINED, MORE)
    once, _ = recorded(TRAINED, MORE, added=True)
    twice, _ = recorded(once, OTHER, added=True)
    for documents in (FIRST, MORE, OTHER):
        assert has_learned(twice, documents)
    both = Documents([*FIRST.texts, *MORE.texts], [*FIRST.labels, *MORE.labels])
    assert has_learned(once, both)


def test_what_was_forgotten_is_not_learned():
    changed, _ = recorded(TRAINED, MORE, added=True)
    changed, _ = recorded(changed, MORE, added=False)
    assert not has_learned(changed, MORE)
    assert has_learned(changed, FIRST)
    again, _ = recorded(changed, MORE, added=True)
    assert has_learned(again, MORE)


def test_nothing_that_tells_of_the_forgotten_is_kept():
    changed, _ = recorded(TRAINED, MORE, added=True)
    part = Documents(FIRST.texts[:1], FIRST.labels[:1])
    changed, _ = recorded(changed, part, added=False)
    assert fingerprint(FIRST) not in str(changed)
    assert not has_learned(changed, FIRST)
    # Nor later, when more is learned.
    changed, _ = recorded(changed, OTHER, added=True)
    assert fingerprint(FIRST) not in str(changed)


def test_facts_of_another_type_are_read_as_absent():
    for odd in (None, 3, "x", [3], [{"salt": 1}], {"hash": "x"}):
        facts = {"training_data": odd, "updates": odd, "forgotten": odd}
        assert not has_learned(facts, FIRST)


def test_evaluate_on_what_training_or_an_update_learned_says_so(tmp_path):
    rows = {"a": ["the cat,animal", "a car,vehicle"], "b": ["dogs,animal"]}
    for name, lines in rows.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["text,label", *lines * 4]))
    model, a, b = (str(tmp_path / n) for n in ("m.earmark", "a.csv", "b.csv"))
    new = tmp_path / "new.csv"
    new.write_text("text,label\ndogs,animal\ncars,vehicle\n")

    def run(*args):
        done = CliRunner().invoke(app, args, catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    run("train", a, "--model", "multinomial", "--no-estimate", "-o", model)
    run("update", model, b)
    for data in (a, b):
        said = run("evaluate", model, data)
        assert f"was trained on the documents of {data}" in " ".join(said.split())
    assert "was trained on" not in run("evaluate", model, str(new))
