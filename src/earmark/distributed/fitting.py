"""Fit a classifier to documents in parts, here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sklearn.base import clone

from earmark.distributed.counting import as_bytes, labelled_batches
from earmark.distributed.executor import DaskExecutor, Dataset, Executor, Regions
from earmark.distributed.local import LocalExecutor, Progress, Store
from earmark.distributed.passes import (
    Job,
    NothingToLearnError,
    fit_plan,
    require_in_parts,
)
from earmark.distributed.predicting import PredictReport, SentModel, predict_parts
from earmark.documents.parts import Part, list_parts
from earmark.documents.table import KnownColumn
from earmark.exceptions import DataError, Named, NotSupportedError, only_in_python
from earmark.features.columns import BY_CHARACTERS, fitting_features
from earmark.inputs.regions import RegionTexts, trained_columns
from earmark.models.base.declaration import model_of
from earmark.parameters import offers, seed_of
from earmark.pipeline import TextClassifier
from earmark.pipeline.choose import unused_pool
from earmark.pipeline.files import load_with_info
from earmark.pipeline.text_model import Plan, Planner
from earmark.typing import Estimator, FilePath


def fit(
    estimator: TextClassifier,
    dataset: Dataset,
    *,
    client: Executor | Estimator = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    unlabelled: Dataset | None = None,
    memory: int | str | None = None,
    checkpoint: FilePath | None = None,
    keep_checkpoint: bool = False,
    skip_bad: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> TextClassifier:
    """Fit a ``TextClassifier`` to a directory of parts that need not fit in memory.

    Parameters
    ----------
    estimator : TextClassifier
        With the model wanted, one that ``earmark info --models`` lists for parts; it
        is left as it is.
    dataset : path, list of paths, or list of Part
        A directory of Parquet, JSONL, CSV or TSV files, or the files.
    client : dask.distributed.Client, Executor or None, default=None
        Where to work; None is this process.
    text, label : str, optional
        The columns; several text columns become regions. By default they are
        guessed as ``read_documents`` does.
    unlabelled : path, list of paths, or list of Part, optional
        More documents, none of which has a label.
    memory : int or str, optional
        Budget such as "2GB" for counts and model, on a cluster for the model. The
        result is exact; if the model itself does not fit, terms of the fewest
        documents are left out, and ``summary()`` says so. "auto", "linear" and
        "semi-supervised" learn from as many documents, drawn by lot, as the budget
        has room for (2 GB if none is given).
    checkpoint : path, optional
        Folder for the results of finished parts (this process only). Give the same
        one to go on after a crash; it is removed when the model is complete.
    keep_checkpoint : bool, default=False
        Leave the checkpoint there. The next fit with it reads only parts that have
        come since, whose names sort behind the others, and those that have changed.
    skip_bad : bool, default=False
        Leave out parts that cannot be read, and say so in ``summary()``.
    progress : callable, optional
        Called with a ``Progress`` after every part (this process only).

    Returns
    -------
    TextClassifier
        For the count models the same, byte for byte, as ``estimator.fit`` on all
        documents in memory, however they are divided.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from earmark import TextClassifier
    >>> folder = tempfile.TemporaryDirectory()
    >>> for name, word in (("a", "good"), ("b", "bad")):
    ...     line = '{"text": "%s", "label": "%s"}' % (word, name)
    ...     _ = pathlib.Path(folder.name, name + ".jsonl").write_text(line)
    >>> model = fit(TextClassifier("multinomial"), folder.name)
    >>> model.predict(["bad"])
    array(['b'], dtype='<U1')
    >>> folder.cleanup()

    """
    with fitting(**locals()) as (classifier, _):
        return classifier


@contextmanager
def fitting(
    estimator: TextClassifier,
    dataset: Dataset,
    *,
    client: Executor | Estimator = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    unlabelled: Dataset | None = None,
    memory: int | str | None = None,
    checkpoint: FilePath | None = None,
    keep_checkpoint: bool = False,
    skip_bad: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **how: Any,
) -> Iterator[tuple[TextClassifier, Job]]:
    """``fit`` for a caller who saves: the checkpoint goes when the block has ended."""
    _refuse(estimator)
    budget = None if memory is None else as_bytes(memory)
    parts = as_parts(dataset, text, label, **how)
    if unlabelled is not None:
        more = as_parts(unlabelled, text, False, **{**how, "format": None})
        first = 1 + max(part.number for part in parts)
        parts += [replace(part, number=first + k) for k, part in enumerate(more)]
    features = estimator.features
    if features is None:
        features = _features_of(parts, estimator.regions)
    store = None
    if client is not None:
        executor = _executor_of(client)
    else:
        if checkpoint is not None or budget is not None:
            columns = parts[0].request
            settings = f"{estimator.get_params()!r} {columns!r} {budget}"
            settings += "" if features is estimator.features else f" {features!r}"
            store = Store(
                None if checkpoint is None else Path(checkpoint), settings, parts
            )
        executor = LocalExecutor(store, budget, progress)
    done = False
    try:
        job = Job(executor, parts, estimator.regions, skip_bad, budget)
        yield _fitted(clone(estimator), job, features), job
        done = True
    except NothingToLearnError:
        done = True  # nothing to go on with: other columns are another job
        raise
    finally:
        if store is not None:
            store.close(done=done and not keep_checkpoint)


def as_parts(
    dataset: Dataset,
    text: str | Sequence[str] | None = None,
    label: Any = None,
    **how: Any,
) -> list[Part]:
    """The parts of a path, of several paths, or as they are given."""
    if isinstance(dataset, list | tuple) and dataset and isinstance(dataset[0], Part):
        return list(dataset)
    columns = [text] if isinstance(text, str) or text is None else list(text)
    if len(columns) == 1:
        return list_parts(dataset, text=columns[0], label=label, **how)
    return list_parts(dataset, regions=columns, label=label, **how)


def predict(
    model: TextClassifier | FilePath,
    dataset: Dataset,
    out: FilePath,
    *,
    client: Executor | Estimator = None,
    text: str | Sequence[str] | None = None,
    max_error: float | None = None,
    skip_bad: bool = False,
) -> PredictReport:
    r"""Label a directory of parts; one Parquet file of labels for each.

    Parameters
    ----------
    model : path or TextClassifier
        A model file that every worker sees, or a classifier, which is saved in
        ``out`` first.
    dataset : path, list of paths, or list of Part
        A directory of Parquet, JSONL, CSV or TSV files, or the files.
    out : path
        Folder for the results: columns row, label and confidence. Parts that are
        there already, of the same model and options, are not done again.
    client : dask.distributed.Client, Executor or None, default=None
        Where to work; None is this process.
    text : str or list of str, optional
        The text columns, if they are not those of the training data.
    max_error : float, optional
        Abstain (label null) to keep this error rate.
    skip_bad : bool, default=False
        Leave out parts that cannot be read; the report lists them.

    Returns
    -------
    PredictReport
        How many documents were labelled, and what was left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from earmark import TextClassifier
    >>> folder = tempfile.TemporaryDirectory()
    >>> data = pathlib.Path(folder.name, "new.jsonl")
    >>> _ = data.write_text('{"text": "good"}\n{"text": "bad"}\n')
    >>> model = TextClassifier("multinomial").fit(["good", "bad"], ["a", "b"])
    >>> predict(model, data, pathlib.Path(folder.name, "labels")).documents
    2
    >>> folder.cleanup()

    """
    stored_text = guessed = None
    if isinstance(model, TextClassifier):
        classifier, path = model, Path(out) / "_model.earmark"
        path.parent.mkdir(parents=True, exist_ok=True)
        model.save(path)
    else:
        path = Path(model)
        classifier, info = load_with_info(path)
        columns = info.metadata.get("columns", {})
        stored_text, guessed = columns.get("text"), columns.get("guessed")
    named = text or _text_columns(classifier, stored_text)
    named = named or (KnownColumn(guessed) if guessed else None)
    parts = as_parts(dataset, named, False)
    executor = None if client is None else _executor_of(client)
    sent = SentModel(path, max_error, classifier if max_error is None else None)
    return predict_parts(sent, parts, out, executor=executor, skip_bad=skip_bad)


def _text_columns(
    classifier: TextClassifier, stored: str | None
) -> str | list[str] | None:
    """The text columns that a classifier was trained on, as far as is known."""
    if stored is not None:
        columns = [name.strip() for name in stored.split(",")]
        return columns if len(columns) > 1 else columns[0]
    return trained_columns(classifier.regions, classifier.region_names_)


def _executor_of(client: Executor | Estimator) -> Executor:
    if offers(client, "reduce", "keep"):
        executor: Executor = client
        return executor
    return DaskExecutor(client)


def _features_of(parts: Sequence[Part], regions: Regions) -> Any:
    """The counter's settings that the script of the first documents asks for."""

    def batches() -> Iterator[RegionTexts]:
        for part in parts:
            if part.request.label is not False:  # a pool is not asked
                with suppress(DataError):  # raised or noted by the pass over all parts
                    yield from (texts for texts, _ in labelled_batches(part, regions))

    def column(name: str) -> Iterator[str]:
        return (text for texts in batches() for text in texts.get(name, ()))

    names = next(map(list, batches()), [])
    columns = {name: column(name) for name in names}
    return fitting_features(None, columns) if columns else None


def _fitted(classifier: TextClassifier, job: Job, features: Any) -> TextClassifier:
    if _learns_from_a_sample(classifier):
        return _fitted_to_sample(classifier, job)
    plan = _planner(classifier, features).plan(classifier.model)
    _note_features(classifier, job, features)
    return _trained(classifier, plan, job, "chosen by you")


def _planner(classifier: TextClassifier, features: Any = None) -> Planner:
    return Planner(
        classifier.features if features is None else features,
        class_weight=classifier.class_weight,
        seed=seed_of(classifier.random_state),
        n_jobs=classifier.n_jobs,
        verbose=classifier.verbose,
    )


def _note_features(classifier: TextClassifier, job: Job, features: Any) -> None:
    if classifier.features is None and features is not None:
        job.notes.append(BY_CHARACTERS)


def _trained(
    classifier: TextClassifier, plan: Plan, job: Job, *why: str
) -> TextClassifier:
    """The classifier with a model that learned from all documents of all parts."""
    fitted = fit_plan(plan, job)
    assert job.counts is not None
    n_pool = job.counts.n_unlabelled
    if plan.columns_from_pool:
        used = [f"{n_pool:,} unlabelled documents were learned by EM (naive Bayes)"]
    else:
        used = unused_pool(n_pool)
    classifier.adopt(plan, fitted, [*why, *used, *job.notes])
    return classifier


def _learns_from_a_sample(classifier: TextClassifier) -> bool:
    """Whether the model must see its documents together."""
    return classifier.model == "auto" or bool(model_of(classifier.model).views)


def _fitted_to_sample(classifier: TextClassifier, job: Job) -> TextClassifier:
    """As in memory, on as many documents as there is memory for."""
    sample = job.sample(seed_of(classifier.random_state))
    labelled, pool = sample.labelled, sample.pool
    documents, others = labelled.in_order(), pool.in_order()
    job.documents = documents.documents(sample.regions), documents.labels
    if len(others):
        job.pool = others.documents(sample.regions)
    classifier.fit(*job.documents, unlabelled=job.pool)
    job.notes += [
        f"of the {drawn.n_seen:,} {kind} documents {len(drawn):,} were drawn by lot "
        "and learned from; with more memory, more are drawn"
        for kind, drawn in (("labelled", labelled), ("unlabelled", pool))
        if not drawn.is_whole
    ]
    lost = sorted({*sample.classes} - {*documents.labels})
    if lost:
        named = ", ".join(lost[:5]) + (", ..." if len(lost) > 5 else "")
        job.notes.append(f"no document of {named} was drawn: it is never answered")
    classifier.reasons_ += job.notes
    return classifier


def _refuse(estimator: Estimator) -> None:
    if not isinstance(estimator, TextClassifier):
        raise TypeError(
            "earmark.distributed.fit wants a TextClassifier, which knows how text "
            f"becomes numbers, got {type(estimator).__name__}; wrap it: "
            "TextClassifier(model=...)."
        )
    if estimator.multi_label is True:
        raise NotSupportedError(
            "several labels per document are not fitted in parts; fit in memory."
        )
    if _learns_from_a_sample(estimator):
        return
    if estimator.max_error is not None:
        raise NotSupportedError(
            [Named("max_error"), " is not estimated in parts; fit without it"],
            only_in_python(
                "and call measure_confidence with a sample of the training documents"
            ),
            about="max_error",
        )
    require_in_parts(_planner(estimator).plan(estimator.model))
