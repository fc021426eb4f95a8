"""The tables of the chapter: what we find beside what it prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reproductions.tables import MISSING, Table, number

__all__ = ["tables"]

Result = Mapping[str, Any]


def tables(result: Result) -> list[Table]:
    """Every table, in the order of the chapter."""
    return [
        *_examples(result),
        _angles(result["exercise 14.1"]),
        _projection(result["figure 14.2"]),
        _measures(result["exercise 14.6"]),
        _nearest_error(result["1NN and the Bayes error"]),
        *_times(result["tables 14.2 and 14.3"]),
        _index(result["inverted index"]),
        _confusion(result["table 14.5"]),
        _languages(result["exercise 14.5"]),
        _trade_off(result["bias and variance"]),
        _three_classifiers(result["figure 14.10"]),
        _reuters(result),
        _routing(result["routing"]),
        _newsgroups(result["exercise 14.8"]),
        _weighting(result["weighting"]),
        _selection(result["feature selection"]["rows"]),
        _random_points(result["exercise 14.16"]),
        _cube(result["exercise 14.17"]["rows"]),
    ]


# Table 14.1 as printed: d1 .. d5, then the centroids of China and not China.
_ORDER = ("chinese", "japan", "tokyo", "macao", "beijing", "shanghai")
_TABLE_14_1 = (
    ("d1", (0, 0, 0, 0, 1.0, 0)),
    ("d2", (0, 0, 0, 0, 0, 1.0)),
    ("d3", (0, 0, 0, 1.0, 0, 0)),
    ("d4", (0, 0.71, 0.71, 0, 0, 0)),
    ("d5", (0, 0.71, 0.71, 0, 0, 0)),
    ("China", (0, 0, 0, 0.33, 0.33, 0.33)),
    ("not China", (0, 0.71, 0.71, 0, 0, 0)),
)


def _examples(result: Result) -> list[Table]:
    found = result["examples"]
    order = [found["terms"].index(term) for term in _ORDER]
    vectors, centroids = (found["table 14.1"][k] for k in ("vectors", "centroids"))
    ours = [*vectors, centroids["China"], centroids["not China"]]
    rows = [
        [name, _numbers([values[i] for i in order], 2), _numbers(printed, 2)]
        for (name, printed), values in zip(_TABLE_14_1, ours, strict=True)
    ]
    head = ["vector", " ".join(_ORDER), "printed"]
    first, second, third = (found[f"example 14.{n}"] for n in (1, 2, 3))
    w = [first["w"][i] for i in order]
    distances = second["distances of d5 from d1 .. d4"]
    answers = [
        ["14.1: |mu - d5|, China", number(first["distances"]["China"], 2), "1.15"],
        [
            "14.1: |mu - d5|, not China",
            number(first["distances"]["not China"], 2),
            "0.0",
        ],
        ["14.1: w", _numbers(w, 2), "0.00 -0.71 -0.71 0.33 0.33 0.33"],
        ["14.1: b", number(first["b"], 3), "-1/3"],
        ["14.2: |d - d5|", _numbers(distances, 2), "1.41 1.41 1.41 0.0"],
        [
            "14.3: rate discount dlrs world",
            number(third["rate discount dlrs world"], 2),
            "0.07",
        ],
        ["14.3: prime dlrs", number(third["prime dlrs"], 2), "-0.01"],
    ]
    return [
        Table("table-14-1", "Table 14.1: vectors and centroids", head, rows),
        Table("examples", "Examples 14.1-14.3", ["", "ours", "printed"], answers),
    ]


def _numbers(values: Sequence[float], digits: int) -> str:
    return " ".join(number(value, digits) for value in values)


def _angles(angles: Mapping[str, float]) -> Table:
    rows = [[ratio, number(angle, 4)] for ratio, angle in angles.items()]
    title = "Exercise 14.1: angle of a distortion"
    return Table("angles", title, ["angle / sin(angle)", "angle in radians"], rows)


def _projection(pairs: Result) -> Table:
    printed = {"x2 x3": ("0.2", "0.201"), "x1 x3": ("0.9", "1.06")}
    rows = [
        [
            pair,
            f"{number(row['projected'])} ({printed[pair][0]})",
            f"{number(row['chord'])} ({printed[pair][1]})",
            number(row["arc"]),
        ]
        for pair, row in pairs.items()
    ]
    head = ["points", "projected", "chord", "arc"]
    note = "The book's figures in brackets; its 1.06 is the chord, not the arc."
    return Table("projection", "Figure 14.2: distances", head, rows, note)


def _measures(measures: Result) -> Table:
    printed = {"dot product": "c", "cosine": "b", "Euclidean distance": "a"}
    rows = [
        [name, row["nearest"], printed[name], *map(number, row["values"].values())]
        for name, row in measures.items()
    ]
    head = ["measure", "nearest to x", "expected", "a", "b", "c"]
    return Table("measures", "Exercise 14.6: three measures", head, rows)


def _nearest_error(result: Result) -> Table:
    rows = [
        [f"{row['training documents']:,}", number(row["error"])]
        for row in result["1NN"]
    ]
    note = (
        f"Bayes error {number(result['Bayes error'])}, twice that "
        f"{number(result['twice the Bayes error'])}, limit of 1NN "
        f"{number(result['limit of 1NN'])}."
    )
    title = "1NN and twice the Bayes error"
    return Table("bayes", title, ["documents", "error of 1NN"], rows, note)


# Slopes that the book's tables 14.2 and 14.3 state: 1 linear, 0 constant. Rocchio's
# training is a sum of both in the classes.
_SLOPES = {
    "Rocchio, training": ("1", "0 to 1"),
    "Rocchio, testing": ("0", "1"),
    "kNN, training": ("1", "0"),
    "kNN, testing": ("1", "0"),
}


def _times(times: Result) -> list[Table]:
    jobs = list(_SLOPES)
    made = []
    for by, place in (("documents", 0), ("classes", 1)):
        rows = [
            [f"{row[by]:,}", *(number(1000 * row[job], 1) for job in jobs)]
            for row in times[f"by {by}"]
        ]
        slopes = times[f"exponent in {by}"]
        rows.append(["exponent", *(number(slopes[job], 2) for job in jobs)])
        rows.append(["the book's", *(_SLOPES[job][place] for job in jobs)])
        made.append(
            Table(
                f"times-by-{by}",
                f"Tables 14.2 and 14.3: CPU milliseconds by {by}",
                [by, *jobs],
                rows,
            )
        )
    return made


def _index(rows: Sequence[Result]) -> Table:
    lines = [
        [
            str(row["words"]),
            str(row["stopped"]),
            f"{row['sharing']:.0%}",
            *(number(1000 * row[key], 1) for key in ("index", "scan")),
            number(row["scan"] / row["index"], 1),
        ]
        for row in rows
    ]
    head = ["words per document", "stopped terms", "documents that share a term"]
    head += ["index, ms", "scan, ms", "factor"]
    title = "Section 14.3.1: inverted index, CPU of 200 queries (the book: factor 10)"
    return Table("inverted-index", title, head, lines)


def _confusion(found: Result) -> Table:
    classes = found["classes"]
    matrices = (found["Rocchio"]["counts"], found["kNN"]["counts"], found["printed"])
    rows = [
        [c, *(" ".join(map(str, matrix[i])) for matrix in matrices)]
        for i, c in enumerate(classes)
    ]
    head = ["true class", "Rocchio", "kNN", "printed"]
    note = (
        f"Columns: {', '.join(classes)}. Accuracy: Rocchio "
        f"{number(found['Rocchio']['accuracy'])}, kNN "
        f"{number(found['kNN']['accuracy'])}. The printed margins look shifted."
    )
    return Table("confusion", "Table 14.5: confusion matrices", head, rows, note)


def _languages(found: Result) -> Table:
    title = "Exercise 14.5: a fourth language that gets no label"
    if "not run" in found:
        return Table("languages", title, ["", ""], [["not run", found["not run"]]])
    fourths = [key for key in found if key.startswith("fourth language")]
    rows = [
        [
            rule,
            *(
                f"{found[key]['any-of'][rule]['fourth language: no label']:.0%}"
                for key in fourths
            ),
        ]
        for rule in found[fourths[0]]["any-of"]
    ]
    head = ["any-of rule", *(f"{key.split()[-1]}: no label" for key in fourths)]
    return Table("languages", title, head, rows)


def _trade_off(problems: Result) -> Table:
    names = ("1NN", "5NN", "25NN", "101NN", "Rocchio", "naive Bayes")
    kinds = ("bias", "variance")
    rows = [
        [name, *(number(problems[p][name][k]) for p in problems for k in kinds)]
        for name in names
    ]
    head = ["model", *(f"{p}: {k}" for p in problems for k in kinds)]
    return Table("trade-off", "Bias and variance in the plane", head, rows)


def _three_classifiers(models: Result) -> Table:
    order = ("one feature", "line", "fits the training set perfectly")
    kinds = ("bias", "variance", "learning_error")
    rows = [[name, *(number(models[name][k], 4) for k in kinds)] for name in order]
    head = ["classifier", "bias", "variance", "learning error"]
    return Table("figure-14-10", "The three classifiers of 14.10", head, rows)


def _reuters(result: Result) -> Table:
    kinds = ("micro F1", "macro F1")
    ten = result["exercise 14.7"]["models"]
    ninety = result["Reuters, 90 classes"]["models"]
    rows = [
        [
            name,
            *(number(ten[name][k]) for k in kinds),
            *(number(ninety[name][k]) if name in ninety else MISSING for k in kinds),
        ]
        for name in ten
    ]
    head = ["model", *(f"{n} classes, {k}" for n in (10, 90) for k in kinds)]
    return Table("reuters", "Exercise 14.7: Reuters-21578, any-of", head, rows)


def _routing(found: Result) -> Table:
    rows = [[name, number(row["mean"])] for name, row in found.items()]
    head = ["model", "mean average precision of ten classes"]
    return Table("routing", "Routing: Reuters test stories ranked", head, rows)


def _newsgroups(models: Result) -> Table:
    known = [(name, row) for name, row in models.items() if isinstance(row, Mapping)]
    rows = [
        [
            name,
            number(row["accuracy"]),
            number(row.get("leave-one-out accuracy")),
            str(row.get("k", MISSING)),
            number(row.get("recall"), 2),
        ]
        for name, row in sorted(known, key=lambda pair: -pair[1]["accuracy"])
    ]
    head = ["model", "test accuracy", "leave-one-out on the training part", "k"]
    head.append("recall of the neighbors")
    return Table("newsgroups", "Exercise 14.8: 20 Newsgroups, one-of", head, rows)


def _weighting(rows: Sequence[Result]) -> Table:
    models = ("Rocchio", "kNN, k = 10")
    lines = [
        [row["smart"], row["weights"], *(number(row[model]) for model in models)]
        for row in rows
    ]
    title = "Weights of the terms: test accuracy on 20 Newsgroups"
    return Table("weighting", title, ["SMART", "weights", *models], lines)


def _selection(rows: Sequence[Result]) -> Table:
    sizes = sorted({row["terms"] for row in rows})
    by = {(row["score"], row["terms"]): row for row in rows}
    lines = [
        [score, model, *(number(by[score, size][model]) for size in sizes)]
        for score in ("df", "chi2", "information_gain")
        for model in ("Rocchio", "kNN, k = 10")
    ]
    head = ["terms kept by", "model", *(f"{size:,}" for size in sizes)]
    return Table("selection", "Feature selection: test accuracy", head, lines)


def _random_points(found: Result) -> Table:
    rows = [
        [
            str(row["dimensions"]),
            str(row["points"]),
            number(row["simulated"]),
            number(row["Cover"]),
        ]
        for row in found["random points"]["rows"]
    ]
    head = ["dimensions", "points", "separable share", "Cover's count"]
    return Table("random-points", "Exercise 14.16: random labels", head, rows)


def _cube(rows: Sequence[Result]) -> Table:
    lines = [
        [
            str(row["dimensions"]),
            f"{row['labellings looked at']:,}",
            "all" if row["all of them"] else "sample",
            number(row["share not separable"]),
        ]
        for row in rows
    ]
    head = ["dimensions", "labellings", "", "share not separable"]
    note = "The exercise says that the share falls with the dimension: it rises."
    return Table("cube", "Exercise 14.17: corners of a cube", head, lines, note)
