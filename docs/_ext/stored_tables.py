"""Tables and figures of stored results and declarations, put into the pages.

    python docs/_ext/stored_tables.py

rewrites every page below docs with what ``reproductions/results`` and
``benchmarks/results`` hold and with what models, formats and encoders declare, and
copies the figures that a full run has drawn. A table stands between
``<!-- table: RESULT/NAME -->`` and ``<!-- end -->``, on lines of its own or, if it is a
list of names, within one; a test compares.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402
    default,
    estimates,
    few_labels_views,
    guarantee,
    label_curve,
    label_errors,
    label_page,
    label_picks,
    label_promise,
    label_suspects,
    mutation,
    novelty,
    pool_in_parts,
    scale_model,
    tuning,
)
from earmark.decision.decision import has_probabilities  # noqa: E402
from earmark.documents.format import COMPRESSED, FORMATS  # noqa: E402
from earmark.encoders.encoder import KINDS, short_names  # noqa: E402
from earmark.models.base.declaration import MODELS, Model  # noqa: E402
from earmark.parameters import offers  # noqa: E402
from earmark.pipeline.text_model import Planner, needs_calibration  # noqa: E402
from reproductions import NAMES, RESULTS, load  # noqa: E402
from reproductions.coverage import differences  # noqa: E402
from reproductions.few_labels.encoder import (  # noqa: E402
    SETFIT,
)
from tests.documents import odd_inputs  # noqa: E402

_MARKED = re.compile(
    r"(<!-- table: (?P<name>[\w./-]+) -->)(?P<line>\n?).*?(?P<end><!-- end -->)",
    re.DOTALL,
)


def fill(page: str, tables: Mapping[str, str]) -> str:
    """The page with each table between its markers."""

    def filled(mark: re.Match[str]) -> str:
        line, text = mark["line"], tables[mark["name"]]
        return f"{mark[1]}{line}{text}{line}{mark['end']}"

    return _MARKED.sub(filled, page)


def stored_tables(root: Path = ROOT) -> dict[str, str]:
    """Every table of the stored results as Markdown, by RESULT/NAME."""
    tables = {f"mutation/{name}": text for name, text in mutation.tables().items()}
    for name in NAMES:
        path = RESULTS / f"{name}.json"
        if path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            for table in (*load(name).tables(stored["result"]), *differences(name)):
                tables[f"{name}/{table.name}"] = table.markdown()
    result = json.loads(label_errors.RESULTS.read_text(encoding="utf-8"))["result"]
    for name, table in label_errors.tables(result).items():
        tables[f"label-errors/{name}"] = table.markdown()
    for name, module, show in (
        ("guarantee", guarantee, guarantee.tables),
        ("novelty", novelty, novelty.table),
        ("pool-in-parts", pool_in_parts, pool_in_parts.page),
    ):
        result = json.loads(module.RESULTS.read_text(encoding="utf-8"))
        tables[f"{name}/all"] = show(result)
    tables["estimates/all"] = estimates.table()
    tables["default/all"] = default.table()
    tables["tuning/all"] = tuning.table()
    tables["label-curve/all"] = label_curve.table()
    tables["few-labels-views/all"] = few_labels_views.table()
    tables["few-labels-views/by-lot"] = few_labels_views.lot_table()
    tables["label-keys/all"] = label_page.keys_table()
    tables["label-picks/all"] = label_picks.table()
    for name in ("ordered", "blind"):
        tables[f"label-promise/{name}"] = label_promise.table(name)
    tables["label-suspects/all"] = label_suspects.table()
    tables["scale-model/all"] = scale_model.simulated()
    tables["odd-inputs/all"] = odd_inputs.table()
    tables["front/figures"] = front_table(root)
    tables["reviews/naive-bayes"] = reviews_table(root)
    tables["encoders/all"] = encoder_table()
    tables["formats/all"] = format_table()
    tables["formats/suffixes"] = format_suffixes()
    tables["formats/parts"] = _listed(
        suffix for one in FORMATS if one.growth is not None for suffix in one.suffixes
    )
    return tables | {f"models/{name}": text for name, text in model_tables().items()}


def model_tables() -> dict[str, str]:
    """What the models declare and what their classes can do, as tables and lists."""
    can = {model.name: _abilities(model) for model in MODELS}
    abilities = list(next(iter(can.values())))
    every = [
        (
            "`auto`",
            "",
            "`semi-supervised` if there is enough unlabelled text, otherwise `linear`",
        ),
        *((f"`{m.name}`", _class_of(m), m.summary) for m in MODELS),
    ]
    marks = [
        (f"`{model.name}`", *("yes" if can[model.name][a] else "" for a in abilities))
        for model in MODELS
    ]
    lists = {
        "exact": [m.name for m in MODELS if can[m.name]["exact changes"]],
        "parts": ["auto", *(m.name for m in MODELS if m.in_parts)],
        "not-in-parts": [m.name for m in MODELS if not m.in_parts],
        "calibrated": [m.name for m in MODELS if _is_calibrated(m)],
        "pool": [m.name for m in MODELS if can[m.name]["unlabelled text"]],
    }
    head = ("name for `model=` and `--model`", "class in `earmark.models`", "method")
    return {
        "all": _rows(head, every),
        "abilities": _rows(("model", *abilities), marks),
        **{name: _listed(names) for name, names in lists.items()},
    }


def _class_of(model: Model) -> str:
    kind = type(model.build(**dict.fromkeys(model.takes)))
    home = kind.__module__.partition(".")[0]
    if home == "earmark":
        return f"`{kind.__name__}`"
    return f"{home.replace('sklearn', 'scikit-learn')}'s `{kind.__name__}`"


def _abilities(model: Model) -> dict[str, bool]:
    """What a model can do, as seen on its class."""
    plan = Planner().plan(model.name)
    takes = signature(plan.estimator.fit).parameters
    return {
        "data in parts": model.in_parts,
        "exact changes": plan.by_term,
        "exact leave-one-out": offers(plan.estimator, "leave_one_out"),
        "unlabelled text": "unlabelled" in takes,
        "vectors of an encoder": model.encodes,
    }


def _is_calibrated(model: Model) -> bool:
    """Whether left-out documents scale its probabilities."""
    estimator = Planner().plan(model.name).estimator
    return needs_calibration(estimator) or not has_probabilities(estimator)


def _rows(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _listed(names: Iterable[str]) -> str:
    """Names as a sentence has them: with commas and an "and"."""
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}" if first else last


FRONT_TASKS = ("sms", "trec", "webkb", "r8", "imdb", "ag", "20ng", "r52")


def front_table(root: Path = ROOT) -> str:
    """What the start page says about accuracy and time, with and against others."""

    def stored(folder: str, name: str) -> Any:
        text = (root / folder / "results" / f"{name}.json").read_text("utf-8")
        return json.loads(text)

    few = stored("benchmarks", "few_labels_views")
    every = stored("benchmarks", "default")["corpora"]

    def with_five(name: str) -> tuple[float, float]:
        cells = [few[name]["figures"][f"{task} 5"] for task in FRONT_TASKS]
        means = (np.mean([c[k] for c in cells]) for k in ("accuracy", "seconds"))
        return tuple(means)  # type: ignore[return-value]

    def with_all(name: str) -> tuple[float, float]:
        cells = [every[corpus][name] for corpus in default.NINE]
        means = (np.mean([c[k] for c in cells]) for k in ("accuracy", "fit_cpu"))
        return tuple(means)  # type: ignore[return-value]

    pool, none, weights = "unlabelled text", "nothing else", "90 MB of weights"
    of_words = "unlabelled text, 90 MB of weights"
    rows = [
        ("5 per class, 8 corpora", "**earmark**", *with_five("static"), pool),
        ("", "**earmark** + MiniLM", *with_five("minilm"), of_words),
        ("", "SetFit", np.mean(SETFIT[5]), None, f"{weights}, a GPU"),
        (
            "",
            "MiniLM + logistic regression",
            *with_five("regression on MiniLM"),
            weights,
        ),
        ("", "tf-idf + logistic regression", *with_five("regression"), none),
        ("all, 9 corpora", "**earmark**", *with_all("default"), none),
        ("", "tf-idf of words and characters + SVM", *with_all("union"), none),
        ("", "fastText", *with_all("fasttext"), none),
    ]
    lines = ["| labels | method | accuracy | CPU s | needs |", "|---|---|---|---|---|"]
    for label, method, accuracy, seconds, needs in rows:
        time = "on a GPU" if seconds is None else f"{seconds:.1f}"
        lines.append(f"| {label} | {method} | {accuracy:.3f} | {time} | {needs} |")
    return "\n".join(lines)


# Multinomial naive Bayes on 25,000 reviews: where, its value, and what differs.
_TABLE_1 = "[Table 1](hierarchical-results.md)"
_SPLIT, _WORDS = "official, films apart", "words of 2 characters or more"
_REVIEWS = (
    (
        _TABLE_1,
        "hierarchical>table_1>rows>naive Bayes, alpha 1>mean",
        (f"{_SPLIT}; 20,000 test reviews", _WORDS, "1"),
    ),
    (
        _TABLE_1,
        "hierarchical>table_1>rows>naive Bayes>mean",
        (f"{_SPLIT}; 20,000 test reviews", _WORDS, "chosen on 5,000 test reviews"),
    ),
    (
        "[Figure 3](hierarchical-results.md)",
        "hierarchical>figure_3>A and B>4>rows>naive Bayes>mean",
        ("at random, same films on both sides", _WORDS, "chosen on 5,000 reviews"),
    ),
    (
        "[Learning curves](../methods/softmax.md)",
        "networks>learning_curves>-1>methods>multinomial naive Bayes>mean",
        (_SPLIT, _WORDS, "chosen by leaving training reviews out"),
    ),
    (
        "[Sentiment](../reproductions/networks.md)",
        "networks>sentiment>0>accuracy",
        (_SPLIT, "words of any length, whether they occur", "1"),
    ),
)


def reviews_table(root: Path = ROOT) -> str:
    """Every figure of multinomial naive Bayes on the reviews, with what differs."""
    rows = []
    for where, path, setting in _REVIEWS:
        name, *keys = path.split(">")
        file = root / "reproductions" / "results" / f"{name}.json"
        value = json.loads(file.read_text("utf-8"))["result"]
        for key in keys:
            value = value[int(key)] if isinstance(value, list) else value[key]
        rows.append((where, f"{value:.3f}", *setting))
    return _rows(("where", "accuracy", "split", "terms", "alpha"), rows)


def format_table() -> str:
    """Every format that is read, as each declares itself."""
    rows = [
        (
            f"`{one.name}`",
            " ".join(f"`{suffix}`" for suffix in one.suffixes),
            one.summary,
            "yes" if one.streamed else "",
            "yes" if one.growth is not None else "",
            f"`{one.extra}`" if one.extra else "",
        )
        for one in FORMATS
    ]
    head = ("format", "suffixes", "what it is", "stdin, compressed", "parts", "extra")
    return _rows(head, rows)


def format_suffixes() -> str:
    """The suffixes of all formats, on a line."""
    streamed = [s for one in FORMATS if one.streamed for s in one.suffixes]
    rest = [s for one in FORMATS if not one.streamed for s in one.suffixes]
    packed = " and ".join(f"`{suffix}`" for suffix in COMPRESSED)
    whole = " ".join(f"`{suffix}`" for suffix in rest)
    return f"{' '.join(f'`{s}`' for s in streamed)} (also {packed}) {whole}"


def encoder_table() -> str:
    """Every kind of encoder, as each declares itself."""
    rows = [
        (
            f'`"{kind.pattern}"`',
            f"`.[{kind.extra}]`" if kind.extra else "",
            kind.summary,
        )
        for kind in KINDS
    ]
    for name in short_names():
        able = [kind for kind in KINDS if name in kind.short_names]
        models = {kind.short_names[name] for kind in able}
        extras = " or ".join(f"`.[{kind.extra}]`" for kind in able if kind.extra)
        rows.append((f'`"{name}"`', extras, f"short for {', '.join(sorted(models))}"))
    return _rows(("`encoder=`", "install", "how it works"), rows)


def pages(root: Path = ROOT) -> Iterator[Path]:
    """The pages that hold a table; generated folders are left out."""
    for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        inside = path.relative_to(root).parts[1:] or ("README.md",)
        if inside[0].startswith("_") or inside[0] in ("auto_examples",):
            continue
        if _MARKED.search(path.read_text(encoding="utf-8")):
            yield path


def main() -> None:
    """Rewrite the pages, copy the figures."""
    tables = stored_tables()
    for path in pages():
        path.write_text(fill(path.read_text(encoding="utf-8"), tables), "utf-8")
    for figure in RESULTS.glob("*/*.svg"):
        target = ROOT / "docs" / "figures" / figure.parent.name / figure.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(figure, target)


if __name__ == "__main__":
    main()
