"""What the chapter claims, asserted: printed digits, and signs over seeds."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from earmark.models import MultinomialNaiveBayes
from reproductions.vector_space import (
    book,
    figures,
    languages,
    nearest_error,
    plane,
    separability,
    tradeoff,
)
from reproductions.vector_space.tables import tables

SEEDS = (0, 1, 2)
ROOT = Path(__file__).parents[2]


def test_worked_examples_have_the_printed_digits():
    found = book.examples()
    order = [found["terms"].index(t) for t in ("chinese", "japan", "tokyo")]
    order += [found["terms"].index(t) for t in ("macao", "beijing", "shanghai")]
    table = np.array(found["table 14.1"]["vectors"])[:, order]
    assert table.tolist() == [
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 1, 0, 0],
        [0, 0.71, 0.71, 0, 0, 0],
        [0, 0.71, 0.71, 0, 0, 0],
    ]
    centroids = found["table 14.1"]["centroids"]
    thirds = [0, 0, 0, 0.33, 0.33, 0.33]
    assert np.array(centroids["China"])[order].tolist() == thirds
    first = found["example 14.1"]
    assert first["distances"] == {"China": 1.15, "not China": 0.0}
    assert first["assigned"] == "not China"
    w = np.array(first["w"])[order].tolist()
    assert w == [0, -0.71, -0.71, 0.33, 0.33, 0.33]
    assert_allclose(first["b"], -1 / 3, rtol=1e-9)
    assert first["w.d of d1 .. d5"] == [0.33, 0.33, 0.33, -1.0, -1.0]
    second = found["example 14.2"]["distances of d5 from d1 .. d4"]
    assert second == [1.41, 1.41, 1.41, 0.0]
    assert found["example 14.3"] == {
        "rate discount dlrs world": 0.07,
        "prime dlrs": -0.01,
    }
    assert found["exercise 14.2"]["assigned"] != found["exercise 14.2"]["labels"]


def test_angles_of_exercise_14_1_and_distances_of_figure_14_2():
    for ratio, angle in book.distortion().items():
        assert_allclose(angle / np.sin(angle), float(ratio), rtol=1e-9)
    far = book.projection()
    assert round(far["x2 x3"]["chord"], 3) == 0.201
    assert round(far["x1 x3"]["chord"], 2) == 1.06
    assert round(far["x1 x3"]["chord"] / far["x1 x3"]["projected"], 2) == 1.18


def test_three_measures_give_three_answers():
    found = book.similarity_measures()
    assert [each["nearest"] for each in found.values()] == ["c", "b", "a"]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 5))
def test_naive_bayes_picks_the_class_of_smallest_divergence(seed, n_classes):
    # Exercise 14.18: argmin over classes of KL(document as a distribution || class).
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.5, 3.0, (4 * n_classes, 12)))
    X[:, 0] += 1
    model = MultinomialNaiveBayes(class_prior="uniform")
    model.fit(X, np.arange(len(X)) % n_classes)
    document = X / X.sum(axis=1, keepdims=True)
    log_document = np.log(np.where(document > 0, document, 1.0))
    cross = log_document[:, None] - model.feature_log_prob_
    divergence = (document[:, None] * cross).sum(axis=2)
    chosen = divergence[np.arange(len(X)), model.predict(X)]
    assert_allclose(chosen, divergence.min(axis=1), rtol=1e-9, atol=1e-12)


def test_fewer_neighbours_mean_less_bias_and_more_variance():
    for problem in (plane.linear_with_noise, plane.enclave):
        for seed in SEEDS:
            found = [
                tradeoff.measured(
                    problem,
                    plane.nearest(k),
                    tradeoff.same,
                    n_sets=12,
                    n_test=200,
                    seed=seed,
                )
                for k in (51, 11, 1)
            ]
            bias, variance = ([row[p] for row in found] for p in ("bias", "variance"))
            assert bias[0] > bias[1] > bias[2]
            assert variance[0] < variance[1] < variance[2]
            for row in found:
                total = row["bias"] + row["variance"]
                assert abs(total - row["learning_error"]) < 1e-10


@pytest.mark.parametrize(
    ("linear", "represent"),
    [
        (MultinomialNaiveBayes(), tradeoff.counts),
        (plane.rocchio(), tradeoff.same),
    ],
)
def test_linear_models_have_more_bias_and_less_variance_on_the_enclave(
    linear, represent
):
    nearest = plane.nearest(1)
    for seed in SEEDS:
        few = {"n_sets": 8, "n_test": 300, "seed": seed}
        straight = tradeoff.measured(plane.enclave, linear, represent, **few)
        local = tradeoff.measured(plane.enclave, nearest, tradeoff.same, **few)
        for loss in ("", "zero_one_"):
            assert straight[f"{loss}bias"] > local[f"{loss}bias"]
            assert straight[f"{loss}variance"] < local[f"{loss}variance"]


def test_the_star_of_figure_14_1_is_china_and_the_misfit_of_14_3_kenya():
    points, labels = plane.three_classes(np.random.default_rng(3))
    model = plane.rocchio().fit(points, labels)
    assert model.predict([figures.STAR]).tolist() == ["China"]
    assert plane.nearest(3).fit(points, labels).predict([figures.STAR])[0] == "China"
    # Nearer to Kenya's centroid, though UK, which is scattered, would fit it better.
    assert model.predict([figures.MISFIT]).tolist() == ["Kenya"]
    mine = points[labels == "UK"]
    gap = np.abs(figures.MISFIT - mine.mean(axis=0)) / mine.std(axis=0)
    other = points[labels == "Kenya"]
    far = np.abs(figures.MISFIT - other.mean(axis=0)) / other.std(axis=0)
    assert np.linalg.norm(gap) < np.linalg.norm(far)


def test_three_yes_no_lines_leave_parts_of_the_plane_to_nobody_or_to_two():
    points, labels = plane.three_classes(np.random.default_rng(3))
    line = np.linspace(0, 1, 60)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(line, line)])
    claims = sum(
        LogisticRegression(C=100.0).fit(points, labels == c).predict(grid).astype(int)
        for c in np.unique(labels)
    )
    assert (claims == 1).any()
    assert (claims != 1).any()


def test_the_stump_makes_the_fewest_errors_of_all_thresholds(rng):
    for _ in range(20):
        X, y = rng.uniform(size=(30, 1)), rng.integers(0, 2, 30)
        stump = tradeoff.Stump().fit(X, y)
        cuts = np.concatenate([[-1.0], X[:, 0], [2.0]])
        errors = [np.mean((X[:, 0] > cut) != y) for cut in cuts]
        assert np.mean(stump.predict(X) != y) == min(errors)


def test_rocchio_fails_on_two_clusters_and_neighbours_do_not(rng):
    points, labels = plane.multimodal(rng)
    rocchio = plane.rocchio().fit(points, labels)
    nearest = plane.nearest(5).fit(points, labels)
    assert (rocchio.predict(points) != labels).mean() > 0.1
    assert (nearest.predict(points) != labels).mean() < 0.05


def test_error_of_the_nearest_neighbour_is_below_twice_the_bayes_error():
    found = nearest_error.bayes_and_nearest((500,), 3)
    limit, bound = found["limit of 1NN"], found["twice the Bayes error"]
    assert found["Bayes error"] < limit < bound
    assert abs(found["1NN"][0]["error"] - limit) < 0.03


def test_separability_agrees_with_counting():
    crossed = np.array([True, True, False, False])
    square = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
    assert not separability.is_separable(square, crossed)
    assert separability.is_separable(square, np.array([True, False, True, False]))
    lifted = separability.perturbed_square(5)["separable share by dimension"]
    assert lifted == {"2": 0.0, "3": 1.0, "4": 1.0}
    cube = separability.cube_corners(5)["rows"]
    # 14 of 16 and 104 of 256 labellings of the corners are threshold functions.
    assert [row["not separable"] for row in cube[:3]] == [0, 2, 152]


def test_messages_are_read_from_catalogues(tmp_path, monkeypatch):
    folder = tmp_path / "contrib" / "shop" / "locale" / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "django.po").write_text(
        'msgid ""\nmsgstr "head"\n\n#: a.py\nmsgid "Good %(part)s"\n'
        'msgstr "Bonne "\n"%(part)s"\n\n#, fuzzy\nmsgid "x"\nmsgstr "y"\n\n'
        'msgid "%d day"\nmsgid_plural "%d days"\nmsgstr[0] "%d jour"\n',
        encoding="utf-8",
    )
    french = {"Good %(part)s": "Bonne  ", "%d day": "  jour"}
    assert languages.catalogue(tmp_path, "fr") == french
    assert languages.catalogue(tmp_path, "en")["%d day"] == "  day"
    monkeypatch.setenv("EARMARK_DJANGO", str(tmp_path))
    assert languages.find_django() == tmp_path


def test_languages_say_when_there_is_no_django(monkeypatch):
    monkeypatch.setattr(languages, "find_django", lambda: None)
    assert "Django was not found" in languages.one_of_and_any_of()["not run"]


def stored_result():
    return json.loads(
        (ROOT / "reproductions" / "results" / "vector-space.json").read_text()
    )["result"]


def test_every_table_of_the_chapter_is_shown():
    shown = {table.name: table for table in tables(stored_result())}
    for row in shown["table-14-1"].rows:
        assert row[1] == row[2]
    for row in shown["measures"].rows:
        assert row[1] == row[2]


def test_the_stored_result_keeps_what_the_page_says():
    result = stored_result()
    ten = result["exercise 14.7"]["models"]
    assert ten["linear SVM"]["micro F1"] > ten["kNN"]["micro F1"] >= 0.85
    assert ten["kNN"]["micro F1"] > ten["Rocchio"]["micro F1"] >= 0.75
    news = result["exercise 14.8"]
    assert news["Rocchio, cosine"]["accuracy"] > news["1NN"]["accuracy"]
    for problem in result["bias and variance"].values():
        near, far = problem["1NN"], problem["101NN"]
        assert near["bias"] < far["bias"]
        assert near["variance"] > far["variance"]
    enclave = result["bias and variance"]["enclave"]
    assert enclave["naive Bayes"]["bias"] > enclave["1NN"]["bias"]
    assert enclave["naive Bayes"]["variance"] < enclave["1NN"]["variance"]
