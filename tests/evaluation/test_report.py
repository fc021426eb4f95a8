"""Report: words, JSON, one safe and small page, written whole."""

import json
import os
import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from earmark.evaluation import (
    ConfusionMatrix,
    Report,
    mcnemar_exact,
    suspected_label_errors,
)
from earmark.evaluation.report import SideBySide
from earmark.evaluation.report.columns import COLUMNS
from earmark.evaluation.report.page import marked_pieces
from earmark.evaluation.report.text import telling_documents
from earmark.exceptions import DataError
from earmark.tables import text_table

HOSTILE = "</script><script>document.title='taken'</script><img src=http://x.test/a>"


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    names = ["arts", "law", "<b>trade</b>"]
    proba = rng.dirichlet([0.4, 0.4, 0.4], size=120)
    y = [names[rng.choice(3, p=row)] for row in proba]
    answers = [names[c] if p > 0.6 else None for c, p in _best(proba)]
    texts = [f"document {n} {HOSTILE}" for n in range(120)]
    errors = suspected_label_errors(
        y, np.log(proba), names, texts=texts, min_probability=0.02
    )
    return {
        "y_true": y,
        "y_pred": answers,
        "proba": proba,
        "classes": names,
        "texts": texts,
        "threshold": 0.6,
        "title": f"A title {HOSTILE}",
        "top_terms": {name: [(HOSTILE, 2.0), ("word", 1.0)] for name in names},
        "hidden_nodes": {"law": [(0.7, [("court", 1.0)]), (0.3, [("tax", 1.0)])]},
        "label_errors": errors,
        "timing": {"fitting, s": 0.25},
        "fingerprint": {"data": HOSTILE},
        "notes": ["A note."],
    }


def _best(proba):
    return zip(proba.argmax(axis=1), proba.max(axis=1), strict=True)


def build(parts, **changes):
    return Report.from_predictions(**{**parts, **changes})


def test_summary_says_what_was_answered_and_how_right_it_was(parts):
    report = build(parts)
    matrix = report.confusion
    first = report.sentences[0]
    assert first.startswith("120 documents in 3 classes: ")
    assert f"{100 * matrix.coverage:.1f} % were answered" in first
    assert f"{100 * matrix.accuracy:.1f} % of the answers are right" in first
    assert "It answers from a confidence of 0.600 on." in report.sentences
    assert report.sentences[-1] == "A note."


def test_terminal_text_has_a_row_per_class_and_its_confusions(parts):
    text = str(build(parts))
    assert re.search(r"^law +\d\.\d{3} +\d\.\d{3} +\d\.\d{3} +\d+$", text, re.M)
    assert "taken for" in text
    assert "macro average" in text
    assert "law 70.0 %: court" in text


def test_documents_are_named_by_the_row_of_their_file(parts):
    report = build(parts)
    first = report.label_errors[0].index
    assert f"row {first + 1} " in str(report)
    assert f"<tr><td>{first + 1}</td>" in report.to_html()


def test_json_can_be_read_back_and_holds_no_text(parts):
    report = build(parts)
    content = json.loads(report.to_json())
    assert content["confusion"]["accuracy"] == report.confusion.accuracy
    assert content["reliability"]["log_loss"] == report.reliability.log_loss
    assert content["coverage"]["area"] == report.coverage.area
    assert "document 5 " not in report.to_json()


def test_curve_looks_at_all_documents_also_when_some_were_not_answered(parts):
    assert build(parts).coverage.coverage[-1] == 1.0


def test_page_escapes_everything_that_comes_from_data(parts):
    page = build(parts).to_html()
    assert "<script>document" not in page
    assert "<img" not in page
    assert "<b>trade" not in page
    assert page.count("<script") == 2
    assert page.count("</script>") == 2


def test_page_asks_nothing_of_the_network(parts):
    page = build(parts, title="Plain", texts=None, fingerprint=None, top_terms=None,
                 label_errors=None).to_html()  # fmt: skip
    assert not re.search(r"(https?:)?//[a-z]", page.replace("text/html", ""))
    assert "default-src 'none'" in page


def test_parts_without_data_are_left_out(parts):
    page = Report.from_predictions(["a", "b"], ["a", "a"]).to_html()
    sections = re.findall(r'<section id="([a-z-]+)"', page)
    assert sections == ["summary", "confusion", "classes"]
    full = re.findall(r'<section id="([a-z-]+)"', build(parts).to_html())
    assert full == [
        "summary", "next", "confusion", "confidence", "mistakes", "classes", "words",
        "nodes", "label-errors", "identity",
    ]  # fmt: skip


def test_page_stays_small_with_many_classes_and_long_documents():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 90, 6000).astype(str)
    z = rng.integers(0, 90, 6000).astype(str)
    texts = ["字<&" * 4000] * 6000
    report = Report.from_predictions(y, z, texts=texts)
    page = report.to_html()
    assert len(page.encode()) < 3_000_000
    assert "The 40 of 90 classes with most mistakes." in page


def test_several_labels_a_document_are_reported(parts):
    report = Report.from_predictions(
        [["a"], ["a", "b"], []], [["a"], ["b"], None],
        proba=[[0.9, 0.1], [0.4, 0.8], [0.2, 0.1]], classes=["a", "b"],
    )  # fmt: skip
    assert report.confusion is None
    assert "66.7 % of the documents were answered" in report.sentences[0]
    assert report.multi_label.subset_accuracy == 0.5
    assert 'id="classes"' in report.to_html()
    assert "micro average" in str(report)


def test_report_of_an_estimator_uses_its_probabilities():
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 5)
    y = np.array(["a", "a", "b", "b"] * 5)
    report = Report.from_estimator(LogisticRegression().fit(X, y), X, y, title="Fit")
    assert report.coverage is not None
    assert report.title == "Fit"


def test_abstaining_on_everything_is_said_in_words(tmp_path):
    report = Report.from_predictions(["a", "b"], [None, None])
    assert "none was answered" in report.sentences[0]
    report.to_html(tmp_path / "report.html")


def test_same_predictions_give_the_same_bytes(parts):
    assert build(parts).to_html() == build(parts).to_html()


def test_failed_write_leaves_the_old_file(parts, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        build(parts).to_html(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_lone_surrogates_can_be_written(tmp_path):
    report = Report.from_predictions(["a"], ["b"], texts=["bad \ud800 text"])
    report.to_html(tmp_path / "r.html")
    assert "bad ? text" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_probabilities_without_classes_are_refused():
    with pytest.raises(DataError, match="proba needs classes"):
        Report.from_predictions(["a"], ["a"], proba=[[1.0]])


def test_confident_mistakes_come_first_with_their_deciding_words_marked(parts):
    report = build(parts)
    mistakes, doubtful = telling_documents(report, 5)
    matrix = report.confusion
    wrong = [
        d
        for d in range(120)
        if parts["y_pred"][d] is not None and parts["y_pred"][d] != parts["y_true"][d]
    ]
    assert mistakes == sorted(wrong, key=lambda d: -matrix.confidence[d])[:5]
    answered = [d for d in range(120) if parts["y_pred"][d] is not None]
    assert set(doubtful) == set(
        sorted(answered, key=lambda d: matrix.confidence[d])[:5]
    )
    words = {mistakes[0]: [("document", 2.0), ("taken", -1.0), ("faint", 0.01)]}
    page = build(parts, words=words).to_html()
    assert '<mark class="for" style="--strength: 100%">document</mark>' in page
    assert '<mark class="against" style="--strength: 50%">taken</mark>' in page
    assert "<script>document" not in page


def test_pieces_of_a_marked_text_are_the_text():
    text = "Naïve words, and NAÏVE wordsmiths."
    pieces = marked_pieces(text, [("naïve", 1.0), ("words", -0.5)])
    assert "".join(piece for piece, _ in pieces) == text
    assert [p for p in pieces if p[1]] == [
        ("Naïve", 1.0),
        ("words", -0.5),
        ("NAÏVE", 1.0),
    ]


def test_the_header_is_what_was_given_and_nothing_of_the_clock(parts):
    header = {"model": f"m.earmark {HOSTILE}", "date": "2026-11-16"}
    page = build(parts, header=header).to_html()
    assert "<dt>date</dt><dd>2026-11-16</dd>" in page
    assert "<script>document" not in page
    assert build(parts, header=header).to_html() == page
    assert '<dl class="head">' not in build(parts).to_html()


def test_a_notebook_shows_a_short_escaped_block(parts):
    block = build(parts)._repr_html_()
    assert "<b>trade" not in block
    assert "&lt;b&gt;trade" in block
    assert len(block) < 5000


@pytest.fixture
def both(parts):
    rng = np.random.default_rng(5)
    better = [
        t if rng.random() < 0.9 else p
        for t, p in zip(parts["y_true"], parts["y_pred"], strict=True)
    ]
    same = {name: parts[name] for name in ("proba", "classes", "texts")}
    return SideBySide(
        {
            "old": Report.from_predictions(parts["y_true"], parts["y_pred"], **same),
            "new": Report.from_predictions(parts["y_true"], better, **same),
        },
        {"data": HOSTILE},
    )


def test_two_models_are_held_side_by_side(parts, both):
    right = {name: both.right(name) for name in both.names}
    test = mcnemar_exact(right["new"], right["old"])
    assert both.tests["new"].p_value == test.p_value
    shares = [f"{name}: {100 * right[name].mean():.1f} %" for name in ("old", "new")]
    places = [both.sentences[0].index(share) for share in shares]
    assert places == sorted(places)
    assert both.table()[0] == ["", "old", "new"]
    assert "F1 of class" in str(both)
    only = both.differences()[0][1]
    assert all(
        right["new"][d["number"] - 1] and not right["old"][d["number"] - 1]
        for d in only
    )
    page = both.to_html()
    assert "<script" not in page
    assert "<img" not in page
    assert "default-src 'none'" in page
    assert json.loads(both.to_json())["tests"]["new"]["p_value"] == test.p_value
    assert "Side by side" in both._repr_html_()
    with pytest.raises(DataError, match="at least two"):
        SideBySide({"one": both.reports["old"]})
    answers = (["a"] * 50, ["b"] * 50)
    far = {answer[0]: Report.from_predictions(answers[0], answer) for answer in answers}
    assert SideBySide(far).sentences[1].endswith("McNemar p < 0.001).")
    other = Report.from_predictions(["a", "b"], ["a", "a"])
    with pytest.raises(DataError, match="same documents"):
        SideBySide({"one": both.reports["old"], "two": other})


def test_a_label_with_a_line_end_does_not_tear_its_row():
    report = Report.from_predictions(["a\nb", "c"], ["a\nb", "c"])
    assert re.search(r"^a b +1\.000", str(report), re.M)
    assert text_table(["x", "y"], [["1\r\n2", "3"]]).splitlines()[2] == "1 2  3"


def test_a_section_without_documents_is_left_out():
    page = Report.from_predictions(["a", "b"], ["a", "a"], texts=["p", "q"]).to_html()
    assert 'id="mistakes"' not in page


def test_every_result_is_written_as_json(tmp_path):
    matrix = ConfusionMatrix.from_predictions(np.array([0, 1, 1]), np.array([0, 1, 0]))
    path = tmp_path / "matrix.json"
    content = json.loads(matrix.to_json(path))
    assert content == json.loads(path.read_text("utf-8")) == matrix.to_dict()
    assert content["classes"] == [0, 1]


def test_the_page_has_every_column_of_the_class_table():
    report = Report.from_predictions(["a", "a", "b"], ["a", "b", "b"])
    page, text = report.to_html(), str(report)
    for column in COLUMNS:
        assert f">{column.head}</th>" in page
        assert column.only_on_page or f" {column.head}" in text
