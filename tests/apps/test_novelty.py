"""Documents from elsewhere on the command line, in the service and the label page."""

import csv
import json
import math

import numpy as np
import pytest
from starlette.testclient import TestClient

from earmark import TextClassifier
from earmark.apps.label.project import open_project
from earmark.apps.label.views import document_data
from earmark.apps.serve.app import make_app
from earmark.apps.serve.metrics import Recent
from earmark.documents import Documents
from tests.apps.test_cli import run
from tests.decision.test_novelty import documents

KNOWN = documents(np.random.default_rng(20), 120)
FOREIGN = documents(np.random.default_rng(21), 20, topics=[8])[0]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("novelty")
    with (folder / "known.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(zip(*KNOWN, strict=True))
    (folder / "new.csv").write_text("text\n" + "\n".join([*KNOWN[0][:20], *FOREIGN]))
    path = folder / "m.earmark"
    code, out, _ = run(
        "train", folder / "known.csv", "--label", "label", "--model", "complement",
        "--novelty", "0.05", "-o", path,
    )  # fmt: skip
    assert code == 0
    assert "called foreign" in out
    return path


def predicted(model, *options):
    code, out, err = run("predict", model, model.parent / "new.csv", *options)
    assert code == 0
    return out, err


def test_never_answers_foreign_documents_too(model):
    rows = list(csv.DictReader(predicted(model, "--novelty", "never")[0].splitlines()))
    assert all(row["label"] for row in rows)
    assert min(float(row["novelty"]) for row in rows) <= 0.05
    folder = model.parent / "labels"
    parts = ("--by-part", "--out", folder, "--novelty", "never", "--json")
    told = json.loads(predicted(model, *parts)[0])
    assert told["abstained"] == 0


def test_predict_writes_p_values_and_leaves_foreign_documents_open(model):
    out, err = predicted(model)
    rows = list(csv.DictReader(out.splitlines()))
    assert list(rows[0]) == ["row", "label", "confidence", "novelty"]
    foreign = [float(row["novelty"]) <= 0.05 for row in rows]
    assert [row["label"] == "" for row in rows] == foreign
    assert sum(foreign[20:]) >= 12
    assert f"{sum(foreign)} document" in err
    assert "unlike the training documents" in err
    lines = [json.loads(line) for line in predicted(model, "--json")[0].splitlines()]
    assert [f"{line['novelty']}" for line in lines] == [r["novelty"] for r in rows]


def test_the_share_is_an_option_of_predict(model):
    rows = list(csv.DictReader(predicted(model)[0].splitlines()))
    out, _ = predicted(model, "--novelty", "0.5")
    more = list(csv.DictReader(out.splitlines()))
    expected = [float(row["novelty"]) <= 0.5 for row in rows]
    assert [row["label"] == "" for row in more] == expected
    code, _, err = run("predict", model, model.parent / "new.csv", "--novelty", "5")
    assert code == 2
    assert "share between 0 and 1" in err


def test_parts_have_the_column_too(model, tmp_path):
    import pyarrow.parquet as parquet

    folder = tmp_path / "labels"
    predicted(model, "--by-part", "--novelty", "0.2", "--out", folder)
    (part,) = folder.glob("*.parquet")
    table = parquet.read_table(part).to_pydict()
    assert [p <= 0.2 for p in table["novelty"]] == [x is None for x in table["label"]]


def test_a_model_without_it_says_how_to_get_it(tmp_path):
    path = tmp_path / "plain.earmark"
    TextClassifier("complement").fit(*KNOWN).save(path)
    (tmp_path / "new.csv").write_text("text\nabc\n")
    code, _, message = run("predict", path, tmp_path / "new.csv", "--novelty", "0.05")
    assert code == 1
    assert "train it with --novelty" in message


def gauge(client, name):
    (line,) = [
        line
        for line in client.get("/metrics").text.splitlines()
        if line.startswith(f"earmark_{name} ")
    ]
    return float(line.split()[1])


def test_the_service_answers_with_p_values_and_measures_drift(model):
    with TestClient(make_app(model, reload_seconds=0)) as client:
        assert math.isnan(gauge(client, "novel_share"))
        assert math.isnan(gauge(client, "confidence_drift"))
        known = client.post("/classify", json={"texts": KNOWN[0][:60]}).json()[
            "results"
        ]
        calm = gauge(client, "confidence_drift")
        assert gauge(client, "novel_share") == np.mean(
            [result["novelty"] <= 0.05 for result in known]
        )
        foreign = client.post("/classify", json={"texts": FOREIGN * 10}).json()
        assert [r["abstained"] for r in foreign["results"]] == [
            r["novelty"] <= 0.05 for r in foreign["results"]
        ]
        assert gauge(client, "novel_share") > 0.5
        assert gauge(client, "confidence_drift") > max(calm, 0.3)
        assert client.get("/model").json()["max_novelty"] == 0.05


def test_drift_is_the_largest_distance_of_two_distributions():
    recent = Recent(np.array([0.1, 0.2, 0.3, 0.4]), 0.05)
    recent.add([{"confidence": c, "novelty": p} for c, p in ((0.2, 0.5), (0.35, 0.01))])
    assert recent.confidence_drift == 0.25
    assert recent.novel_share == 0.5
    recent.add([{"confidence": None}])
    assert recent.confidence_drift == 0.25
    assert math.isnan(Recent(None, 0.05).confidence_drift)
    for _ in range(600):
        recent.add([{"confidence": 1.0, "novelty": 0.5}] * 2)
    assert recent.confidence_drift == 1.0
    assert recent.novel_share == 0.0


def test_the_label_page_says_what_is_unlike_anything_so_far(tmp_path):
    texts, y = KNOWN
    both = Documents([*texts, *FOREIGN], rows=range(1, 141), source="some.csv")
    session = open_project(both, tmp_path / "p", labels=sorted(set(y)))
    try:
        session.wait()
        assert not document_data(session, 125, "chosen")["unlike"]  # nothing is known
        lessons = [d for d in range(120) if not session.loop.is_check[d]][:80]
        for document in lessons:
            session.answer(f"k{document}", "tab", document, [y[document]], "person")
        assert session.wait()
        unlike = [
            document_data(session, d, "chosen")["unlike"] for d in range(120, 140)
        ]
        assert sum(unlike) >= 10
        ordinary = [d for d in range(120) if d not in lessons]
        assert sum(document_data(session, d, "x")["unlike"] for d in ordinary) <= 6
    finally:
        session.close()
