"""A card's facts in words: sections of paragraphs, lists and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from earmark.apps.card.facts import CardFacts, Evaluation
from earmark.typing import JsonObject

__all__ = ["Block", "Code", "Items", "Section", "Table", "front_matter", "sections"]

_FEW = 10


@dataclass(frozen=True)
class Table:
    """Rows of cells below a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Lines to be copied."""

    text: str


Block = str | Table | Items | Code


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


def front_matter(facts: CardFacts, licence: str | None = None) -> JsonObject:
    """What model hubs read at the top of a card."""
    front: JsonObject = {"library_name": "earmark", "tags": ["earmark", facts.model]}
    front["pipeline_tag"] = "text-classification"
    if licence is not None:
        front["license"] = licence
    if facts.evaluation is not None:
        metric = {
            "type": "accuracy",
            "value": round(facts.evaluation.accuracy, 4),
            "name": "accuracy on documents left out of fitting",
        }
        data = {"name": str(facts.training.get("source", "own data")), "type": "text"}
        task = {"type": "text-classification"}
        result = {"task": task, "dataset": data, "metrics": [metric]}
        front["model-index"] = [{"name": facts.name, "results": [result]}]
    return front


def sections(
    facts: CardFacts,
    intended_use: str | None = None,
    about: Mapping[str, str] | None = None,
) -> list[Section]:
    """All sections of the card, in reading order.

    ``about`` is said of the model by its maker: date, licence, contact.
    """
    said = tuple((name, value) for name, value in (about or {}).items())
    identity = _identity(facts)
    return [
        Section("What it is", (Table(identity.head, (*said, *identity.rows)),)),
        Section("Training data", tuple(_training(facts))),
        Section("Accuracy", tuple(_evaluation(facts))),
        Section("What it goes by", tuple(_terms(facts))),
        Section("Intended use", (intended_use or _use(facts),)),
        Section("Limits", (Items(tuple(_limits(facts))),)),
        Section("How to use it", (Code(_usage(facts)),)),
    ]


def _identity(facts: CardFacts) -> Table:
    rows = [
        ("task", "any number of labels" if facts.is_multi_label else "one label each"),
        ("labels", ", ".join(facts.classes)),
        ("model", f"{facts.model}: {facts.summary}"),
        ("parts of a document", ", ".join(facts.regions) or "one text"),
        *((f"setting `{key}`", value) for key, value in facts.settings.items()),
        ("written by", f"earmark {facts.info.earmark_version}"),
        ("file", f"{facts.info.file_size:,} bytes, format {facts.info.format_version}"),
        ("fingerprint", facts.info.fingerprint),
    ]
    return Table(("", ""), tuple(rows))


def _training(facts: CardFacts) -> Iterable[Block]:
    training = facts.training
    if not training:
        yield "Not recorded: only `earmark train` does so."
        return
    rows = [
        ("source", str(training["source"])),
        ("labelled documents", f"{training['labelled']:,}"),
        ("documents without a label", f"{training['unlabelled']:,}"),
    ]
    if "fingerprint" in training:
        rows.append(("fingerprint of the data", str(training["fingerprint"])))
    if training.get("bad_parts"):
        rows.append(("parts left out as unreadable", f"{training['bad_parts']:,}"))
    yield Table(("", ""), tuple(rows))
    counts = sorted(training["classes"].items(), key=lambda item: (-item[1], item[0]))
    yield Table(("label", "documents"), tuple((k, f"{n:,}") for k, n in counts))
    if "fingerprint" in training:
        yield "`earmark check DATA` prints the fingerprint of a data file."


def _evaluation(facts: CardFacts) -> Iterable[Block]:
    evaluation = facts.evaluation
    if evaluation is None:
        yield (
            "No evaluation is stored in the file. Measure it on labelled documents "
            "it has not seen: `earmark evaluate`."
        )
        return
    yield _accuracy(evaluation)
    yield Table(
        ("right answers", "documents answered"),
        tuple(
            (_percent(target), _percent(share) if share > 0 else "none")
            for target, share in evaluation.coverage.items()
        ),
    )
    if facts.promise is not None:
        yield facts.promise


def _accuracy(evaluation: Evaluation) -> str:
    what = "documents" if evaluation.mean_confidence is not None else "yes/no decisions"
    kind = (
        "that took no part in fitting"
        if evaluation.held_out
        else "of the training data, each judged by a model without it"
    )
    right = (
        f"{_percent(evaluation.accuracy)} of the answers were right (95 % interval "
        f"{_percent(evaluation.low)} to {_percent(evaluation.high)}) on "
        f"{evaluation.n_answers:,} {what} {kind}."
    )
    if evaluation.mean_confidence is None:
        return right
    gap = evaluation.mean_confidence - evaluation.accuracy
    how = "too high" if gap > 0 else "too low"
    return (
        f"{right} Its stated confidence was {abs(gap) * 100:.1f} points {how} on "
        "average."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _terms(facts: CardFacts) -> Iterable[Block]:
    if not facts.terms:
        yield "The model has no single weight for a word and a label."
        return
    rows = tuple((label, ", ".join(words)) for label, words in facts.terms.items())
    yield Table(("label", "words that speak most for it"), rows)
    yield "Words that have no business here point to a leak or a bias in the data."


def _use(facts: CardFacts) -> str:
    what = "any number of the labels" if facts.is_multi_label else "one of the labels"
    return (
        f"Putting {what} above on documents of the same kind and language as the "
        "training data, with a person to turn to where an answer matters. The maker "
        "of the model has stated no other use."
    )


def _limits(facts: CardFacts) -> Iterable[str]:
    yield "It knows the labels above and no others."
    if facts.promise is not None:
        yield (
            "It abstains where it is unsure; the error rate holds for documents like "
            "those it was calibrated on."
        )
    elif not facts.is_multi_label:
        yield "It answers every document, also those that belong under none of them."
    if facts.evaluation is None:
        yield "Its accuracy has not been measured."
    elif not facts.evaluation.held_out:
        yield "The figures above are estimates from the training data, not a test."
    counts = facts.training.get("classes", {})
    rare = sorted(label for label, n in counts.items() if n < _FEW)
    if rare:
        yield f"Fewer than {_FEW} labelled documents: {', '.join(rare)}."
    yield "Words that were not in the training data count for nothing."
    yield "Wrong labels, gaps and prejudices of the training data are in the model."
    yield "It has not been examined for differences between groups of people."
    yield "The file holds words of the training data: protect it as you protect them."


def _usage(facts: CardFacts) -> str:
    return (
        f"earmark predict {facts.name} DATA\n"
        f'earmark explain {facts.name} "a text"\n'
        f"python -c \"import earmark; print(earmark.load('{facts.name}').summary())\""
    )
