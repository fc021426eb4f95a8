"""Class names as texts: what labels say in words, and which of them say anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from earmark.exceptions import DataError
from earmark.typing import BoolVector

# Between the words of a label: "moneyFX" and "HTMLPage" have one border each.
_BORDERS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W\d_]+")
# A code, such as C01, 12B or ICD10: figures beside capitals.
_CODE = re.compile(r"[A-Z]+\d[A-Z\d]*|\d+[A-Z]+[A-Z\d]*")
# Words of labels that say nothing about the documents.
_SILENT = frozenset(
    (
        *("and", "category", "class", "etc", "for", "general", "in", "label", "misc"),
        *("miscellaneous", "na", "no", "none", "not", "of", "or", "other", "others"),
        *("rest", "the", "topic", "type", "unknown", "various", "with"),
    )
)


def label_words(label: object) -> list[str]:
    """The words of a label in lower case; none of a number or a code."""
    if not isinstance(label, str):
        return []
    parts = [p for p in re.split(r"[\W_]+", label) if not _CODE.fullmatch(p)]
    words = [word.lower() for part in parts for word in _BORDERS.split(part)]
    return [word for word in words if len(word) > 1 and word not in _SILENT]


def descriptions_of(class_names: object) -> dict[Hashable, list[str]]:
    """The texts of each label, as lists; refuse what says nothing of labels."""
    if not isinstance(class_names, Mapping):
        raise TypeError(
            "TextClassifier.class_names must be 'auto', None or a dict from labels to "
            f"texts, got {class_names!r:.80}."
        )
    descriptions: dict[Hashable, list[str]] = {}
    described: dict[frozenset[str], Hashable] = {}
    for label, texts in class_names.items():
        several = [texts] if isinstance(texts, str) else texts
        if (
            not isinstance(several, list | tuple)
            or not several
            or not all(isinstance(text, str) and text.strip() for text in several)
        ):
            raise DataError(
                f"TextClassifier.class_names: {label!r} must have a text or a list of "
                f"texts, none of them blank, got {texts!r:.80}."
            )
        words = frozenset(" ".join(text.lower().split()) for text in several)
        if words in described:
            raise DataError(
                f"TextClassifier.class_names: {described[words]!r} and {label!r} have "
                f"the same description, {texts!r:.80}, which cannot tell them apart; "
                "describe each in words of its own."
            )
        described[words] = label
        descriptions[label] = list(several)
    return descriptions


@dataclass(frozen=True)
class ClassNames:
    """Classes that are asked for by name, and what is said about classes."""

    labels: Sequence[Hashable] = ()
    """Classes asked for, or described, whether or not a document has their label."""
    descriptions: Mapping[Hashable, list[str]] = field(default_factory=dict)
    """The texts of those that are described."""
    count: bool = False
    """Whether names are weak documents."""

    @classmethod
    def read(cls, class_names: object, classes: Iterable[Hashable] = ()) -> Self:
        """What users say: "auto", None or label -> texts; and classes there are to be.

        "auto": the words of the labels count.
        """
        if class_names is None or class_names == "auto":
            return cls(list(dict.fromkeys(classes)), count=class_names is not None)
        described = descriptions_of(class_names)
        return cls(list(dict.fromkeys([*classes, *described])), described, count=True)

    def telling(
        self,
        labels: Iterable[Hashable],
        knows: Callable[[list[str]], BoolVector],
        encoded: bool,
    ) -> dict[Hashable, list[str]]:
        """Texts of the classes whose names say something, in the order of ``str``."""
        # ``knows`` says which texts have a word of the documents. Names of one class,
        # or of less than half, would only draw documents there: then none speaks.
        if not self.count:
            return {}
        every = {*self.labels, *labels}
        texts = {label: self._texts(label, knows, encoded) for label in every}
        telling = [label for label in sorted(every, key=str) if texts[label]]
        if len(telling) < max(2, len(every) / 2):
            telling = []
        return {label: texts[label] for label in telling}

    def _texts(
        self, label: Hashable, knows: Callable[[list[str]], BoolVector], encoded: bool
    ) -> list[str]:
        if label in self.descriptions:
            own = self.descriptions[label]
            return own if encoded else _those(own, knows(own))
        words = label_words(label)
        if not words:
            return []
        is_known = knows(words)
        if encoded and not str(label).isupper():
            is_known = is_known | np.array([_looks_like_a_word(w) for w in words])
        used = _those(words, is_known)
        return [" ".join(used)] if used else []


def _those(texts: list[str], chosen: BoolVector) -> list[str]:
    return [text for text, is_chosen in zip(texts, chosen, strict=True) if is_chosen]


def _looks_like_a_word(word: str) -> bool:
    return len(word) > 3 and re.search("[aeiouy]", word) is not None


def require_named(
    classes: Iterable[Hashable], labels: Iterable[Hashable], telling: Iterable[Hashable]
) -> None:
    """Refuse classes that have neither a label nor a name that says anything."""
    silent = sorted(repr(str(label)) for label in {*classes} - {*labels} - {*telling})
    if silent:
        listed = ", ".join(silent[:5]) + (", ..." if len(silent) > 5 else "")
        raise DataError(
            f"no labelled document for {listed}, and the names say too little. A name "
            "is of use if one of its words occurs in at least two of the texts, is no "
            "code, and is not in all of them. At least two classes, and at least half "
            "of all classes, need such a name. "
            "Describe the classes in words of the texts (class_names={label: text}), "
            "or label some documents (earmark label)."
        )
