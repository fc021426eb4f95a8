"""POST /classify: what it answers."""

import numpy as np
import pytest
from starlette.testclient import TestClient

import earmark
from earmark import TextClassifier
from earmark.apps.serve.app import make_app


def ask(client, **body):
    reply = client.post("/classify", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()["results"]


def test_the_answers_are_the_models(client, model_file):
    texts = ["free pills", "lunch?", "", "noon \x00 pills"]
    model = earmark.load(model_file)
    results = ask(client, texts=texts)
    assert [r["label"] for r in results] == model.predict(texts).tolist()
    expected = model.predict_proba(texts).max(axis=1)
    np.testing.assert_allclose([r["confidence"] for r in results], expected, 1e-12)
    assert not any(r["abstained"] for r in results)
    assert set(results[0]) == {"label", "confidence", "abstained"}


def test_top_k_gives_the_best_scores_in_falling_order(client):
    (result,) = ask(client, texts=["cheap lunch pills"], top_k=9)
    values = list(result["scores"].values())
    assert values == sorted(values, reverse=True)
    assert sum(values) == pytest.approx(1)
    (one,) = ask(client, texts=["cheap lunch pills"], top_k=1)
    assert list(one["scores"]) == [result["label"]]


def test_explanations_add_up(client):
    (result,) = ask(client, texts=["cheap pills at noon"], explain=True)
    shown = result["explanation"]
    total = sum(t["contribution"] for t in shown["terms"])
    total += shown["rest"] + sum(shown["constants"].values())
    assert total == pytest.approx(shown["score"])
    assert {t["term"] for t in shown["terms"]} == {"cheap", "pills", "at", "noon"}


def test_max_error_makes_it_abstain(client, model_file):
    model = earmark.load(model_file).set_params(max_error=0.05)
    texts = ["cheap pills now", "zebra"]
    results = ask(client, texts=texts, max_error=0.05)
    assert [r["label"] for r in results] == model.predict(texts).tolist()
    (result,) = ask(client, texts=["zebra"], max_error=1e-9)
    assert result["abstained"]
    assert result["label"] is None


def test_documents_may_name_the_only_region(client):
    assert ask(client, documents=[{"text": "lunch"}]) == ask(client, texts=["lunch"])


def test_a_model_of_regions_takes_documents(tmp_path):
    data = {"title": ["pills", "lunch"] * 3, "body": ["cheap", "noon"] * 3}
    classifier = TextClassifier("multinomial").fit(data, ["spam", "ham"] * 3)
    classifier.save(tmp_path / "m.earmark")
    with TestClient(make_app(tmp_path / "m.earmark", reload_seconds=0)) as client:
        found = ask(client, documents=[{"title": "pills"}, {"body": "noon"}])
        assert [r["label"] for r in found] == ["spam", "ham"]
        for body, words in (
            ({"texts": ["pills"]}, "title, body"),
            ({"documents": [{"subject": "pills"}]}, "does not know"),
            ({"documents": [{"title": "pills"}], "max_error": 0.1}, "no evidence"),
        ):
            reply = client.post("/classify", json=body)
            assert reply.status_code == 422
            assert words in reply.json()["detail"]
        described = client.get("/openapi.json").json()
        asked = described["components"]["schemas"]["Request"]["properties"]
        assert "texts" not in asked
        assert "max_error" not in asked


def test_several_labels_a_document(tmp_path):
    texts = ["red car", "blue car", "red bike", "blue bike"] * 6
    labels = [t.split() for t in texts]
    TextClassifier("softmax").fit(texts, labels).save(tmp_path / "m.earmark")
    with TestClient(make_app(tmp_path / "m.earmark", reload_seconds=0)) as client:
        (result,) = ask(client, texts=["a red bike"], explain=True, top_k=2)
    assert set(result["label"]) == {"red", "bike"}
    assert len(result["scores"]) == 2


def test_labels_that_are_no_strings_keep_their_type(tmp_path):
    TextClassifier("complement").fit(["a bc", "de fg"] * 3, [1, 2] * 3).save(
        tmp_path / "m.earmark"
    )
    with TestClient(make_app(tmp_path / "m.earmark", reload_seconds=0)) as client:
        (result,) = ask(client, texts=["de"], top_k=1)
    assert result["label"] == 2
    assert list(result["scores"]) == ["2"]
