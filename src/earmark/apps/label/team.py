"""What people share: guidelines, labels and their history, agreement."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations

from earmark.apps.label.session import Session
from earmark.apps.web.replies import finite
from earmark.evaluation.significance import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from earmark.typing import JsonObject

__all__ = ["Team"]


class Team:
    """Answers questions about the people of a project; keeps what is costly."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._agreement: tuple[object, list[JsonObject]] | None = None

    def data(self) -> JsonObject:
        """Guidelines, labels, people, agreement and changes of labels."""
        store = self.session.store
        return {
            "guidelines": store.fact("guidelines") or "",
            "labels": store.label_facts(),
            "people": store.people(),
            "twice": len(self._table()),
            "overlap": len(self.session.overlap),
            "disputed": len(self.session.disputed),
            "agreement": self.agreement(),
            "changes": [
                asdict(change) for change in reversed(store.label_changes(undone=True))
            ],
        }

    def agreement(self) -> list[JsonObject]:
        """Coefficients over the documents that two or more people answered."""
        table = self._table()
        state = {d: tuple(said.items()) for d, said in table.items()}
        if self._agreement is None or self._agreement[0] != state:
            self._agreement = (state, self._measured(table))
        return self._agreement[1]

    def _table(self) -> dict[int, dict[str, tuple[str, ...]]]:
        answers = {
            document: {
                who: entry.labels
                for who, entry in said.items()
                if entry.labels is not None and entry.how == "asked"
            }
            for document, said in list(self.session.said.items())
        }
        return {document: said for document, said in answers.items() if len(said) > 1}

    def _measured(
        self, table: dict[int, dict[str, tuple[str, ...]]]
    ) -> list[JsonObject]:
        if not table:
            return []
        rows = [list(said.values()) for said in table.values()]
        measured = [_plain(krippendorff_alpha(rows), "everybody")]
        if len({len(row) for row in rows}) == 1:
            measured.append(_plain(fleiss_kappa(rows), "everybody"))
        people = sorted({who for said in table.values() for who in said})
        for first, second in combinations(people, 2):
            both = [s for s in table.values() if first in s and second in s]
            if both:
                kappa = cohen_kappa(
                    [said[first] for said in both], [said[second] for said in both]
                )
                names = f"{first or '(no name)'} and {second or '(no name)'}"
                measured.append(_plain(kappa, names))
        return measured


def _plain(agreement: Agreement, people: str) -> JsonObject:
    data = agreement.to_dict() | {"people": people}
    return {
        name: finite(value) if isinstance(value, float) else value
        for name, value in data.items()
    }
