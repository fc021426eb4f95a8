"""One answer, however it is asked for: Python, a model file, a table, the service."""

import csv

import numpy as np
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from earmark import load
from earmark.apps.cli.main import app
from earmark.apps.serve.app import make_app
from tests.agreement.models import fitted, fresh, model_names

each_model = pytest.mark.parametrize("name", model_names())
each_kind = pytest.mark.parametrize("kind", ["one", "two", "several", "long"])


def answers(labels):
    """Labels as every surface can write them."""
    several = [one if isinstance(one, tuple | list) else [one] for one in labels]
    return [list(map(str, some)) for some in several]


def tabled(model, texts, folder):
    """Labels and confidences that ``earmark predict`` writes."""
    data, out = folder / "new.csv", folder / "out.csv"
    with data.open("w", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in texts)])
    command = ["predict", str(model), str(data), "--out", str(out)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    labels = [row["label"].split("|") if row["label"] else [] for row in rows]
    return labels, [float(row["confidence"]) for row in rows]


def served(model, texts, **options):
    """What ``/classify`` of the service replies."""
    with TestClient(make_app(model, reload_seconds=0)) as client:
        reply = client.post("/classify", json={"texts": texts, **options})
    assert reply.status_code == 200, reply.text
    return reply.json()["results"]


def assert_answered_alike(classifier, texts, folder):
    decision = classifier.decide(texts)
    expected = answers(decision.labels)
    path = folder / "model.earmark"
    classifier.save(path)
    again = load(path).decide(texts)
    assert answers(again.labels) == expected
    np.testing.assert_array_equal(again.confidence, decision.confidence)
    labels, confidence = tabled(path, texts, folder)
    assert labels == expected
    np.testing.assert_allclose(confidence, decision.confidence, rtol=1e-5, atol=1e-6)
    replies = served(path, texts)
    assert answers([one["label"] for one in replies]) == expected
    confidence = [one["confidence"] for one in replies]
    np.testing.assert_allclose(confidence, decision.confidence, rtol=1e-12)


@each_kind
@each_model
def test_every_surface_gives_one_label_and_one_confidence(name, kind, tmp_path):
    assert_answered_alike(fitted(name, kind), fresh(kind)[0], tmp_path)


@each_model
def test_they_do_so_with_a_learned_confidence(name, tmp_path):
    classifier = fitted(name, "mixed", learn_confidence=True)
    assert_answered_alike(classifier, fresh("mixed")[0], tmp_path)


@each_model
def test_the_service_explains_what_it_answers(name, tmp_path):
    classifier, texts = fitted(name, "one"), fresh("one")[0][:10]
    path = tmp_path / "model.earmark"
    classifier.save(path)
    with TestClient(make_app(path, reload_seconds=0)) as client:
        asked = {"texts": texts, "explain": True}
        reply = client.post("/classify", json=asked)
    if reply.status_code == 422:
        pytest.skip("the model cannot explain")
    expected = classifier.explain(texts)
    for one, known in zip(reply.json()["results"], expected, strict=True):
        assert one["explanation"]["label"] == one["label"] == known.label
        assert one["explanation"]["score"] == pytest.approx(known.score)
