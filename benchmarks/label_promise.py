"""The promise of the label page on simulated projects: how often kept, and how soon.

    python -m benchmarks.label_promise
    python -m benchmarks.label_promise --blind --projects 120

500 projects of 100 to 20,000 documents whose guesses are wrong in 0 to 8 % of
documents. No model is fitted: for each document a chance to be wrong is drawn, the
guess is wrong with that chance, and the model believes in a third or a tenth of it, or
in all of it. All else is the page's own: its session on disk, its checks, its audits
and its sentences. A person has answered 100 documents, every fifth of them a random
check, and asks for an audit; when one is given up, or not worth it yet, 50 documents
are answered and it is tried again, up to four times. With ``--blind`` all guesses of a
project are equally often wrong, and the model believes that two in a thousand are: only
the checks can tell. Figures go to benchmarks/results/label_promise.json.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from earmark.apps.label.session import Session
from earmark.apps.label.store import Store
from earmark.apps.label.views import state_data
from earmark.apps.web.replies import Refusal
from earmark.documents import Documents
from earmark.pipeline.labelling import LabellingLoop, View
from earmark.pipeline.labelling.learners import Answers, Fitted

RESULTS = Path(__file__).parent / "results" / "label_promise.json"
RATES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08)
BELIEFS = (1.0, 1 / 3, 0.1)
BLIND = 0.0
SIZES = (100, 20_000)
N_FIRST, N_MORE, N_ATTEMPTS = 100, 50, 4
NAMES = ["no", "yes"]
# What a sentence asks for, and any number in it that is no percentage.
_ASKED = re.compile(
    r"([\d,]+) more (?:right|label|answer)|Check now: ([\d,]+)|at least ([\d,]+) check"
)
_NUMBER = re.compile(r"(?<![\d.])(\d[\d,]*)(?![\d.]* (?:%|point))")


class Simulated(LabellingLoop):
    """A loop whose guesses are drawn, not learned."""

    def __init__(self, n: int, rate: float, belief: float, seed: int) -> None:
        texts = [f"word{i % 97} word{i % 89}" for i in range(n)]
        super().__init__(texts, encoder=None, strategy="random", random_state=seed)
        rng = np.random.default_rng(seed)
        # Few documents are hard: half of the chances lie below a fifth of the mean.
        chance = np.minimum(rate * rng.gamma(0.4, 2.5, n), 0.5)
        if belief == BLIND:
            chance = np.full(n, rate)
        guess = rng.integers(0, 2, n)
        self.truth = np.where(rng.random(n) < chance, 1 - guess, guess)
        believed = np.clip(belief * chance, 1e-6, 0.5)
        if belief == BLIND:
            believed = np.full(n, 0.002)
        log_proba = np.empty((n, 2))
        log_proba[np.arange(n), guess] = np.log1p(-believed)
        log_proba[np.arange(n), 1 - guess] = np.log(believed)
        nothing = np.zeros((self.collection.n_terms, 2))
        self._drawn = Fitted(
            NAMES, log_proba, nothing, np.zeros(2), self.collection.counts
        )

    def full_fit_due(self, lessons: Answers) -> bool:
        """Nothing is fitted."""
        return False

    def fitted_view(self, lessons: Answers, checks: Answers) -> View:
        """The same guesses, whatever was answered."""
        return self.view.after(self._drawn, len(lessons), checks)


def project(size: int, rate: float, belief: float, seed: int) -> dict[str, Any]:
    """One project from its hundredth answer on."""
    loop = Simulated(size, rate, belief, seed)
    truth = [NAMES[y] for y in loop.truth]
    n_first = min(N_FIRST, size // 3)
    n_checks = round(loop.check_share * n_first)
    first = [*loop.check_order[:n_checks], *loop.learn_order[: n_first - n_checks]]
    facts: dict[str, Any] = {"size": size, "rate": rate, "belief": round(belief, 2)}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), {})
        store.add_labels(NAMES)
        answers = [(int(d), (truth[d],)) for d in first]
        store.write("first", answers, "asked", "client", "")
        documents = Documents(loop.collection.texts, source="simulated")
        session = Session(documents, loop, store)
        try:
            session.wait()
            facts |= _worked_on(session, loop, truth)
        finally:
            session.close()
    return facts


def _worked_on(session: Session, loop: Simulated, truth: list[str]) -> dict[str, Any]:
    """Audits until one holds or nothing is left; the sentences on the way."""
    impossible: list[str] = []
    for attempt in range(1, N_ATTEMPTS + 1):
        impossible += _impossible(session)
        try:
            session.begin_audit()
        except Refusal:
            pass
        n_asked = 0
        while loop.is_auditing:
            _answer_next(session, truth)
            n_asked += 1
            if n_asked % 10 == 1:
                impossible += _impossible(session)
        grant = loop.granted
        impossible += _impossible(session)
        if grant is not None:
            wrong = [
                (truth[d],) != guess
                for d, guess in zip(grant.documents, grant.guesses, strict=True)
            ]
            return {
                "holds": True,
                "answers": len(loop.answers),
                "attempts": attempt,
                "promised": len(wrong),
                "wrong": round(float(np.mean(wrong)), 5),
                "broken": bool(np.mean(wrong) > loop.max_error),
                "impossible": impossible,
            }
        for _ in range(N_MORE):
            if not _answer_next(session, truth):
                break
        session.wait()
    return {"holds": False, "answers": len(loop.answers), "impossible": impossible}


def _answer_next(session: Session, truth: list[str]) -> bool:
    """A right answer to what is asked; False at the end."""
    shown = session.next_document("client")
    if shown is None:
        return False
    document = shown[0]
    key = f"k{len(session.loop.answers)}-{document}"
    session.answer(key, "client", document, [truth[document]], "asked")
    return True


def _impossible(session: Session) -> list[str]:
    """Sentences on the page that ask for more than there is."""
    state = state_data(session)
    n_open = len(session.documents) - len(session.entries)
    words = f"{state['advice']} {state['promise']['words']}"
    asked = [n for found in _ASKED.findall(words) for n in found if n]
    whole = [_whole(n) > len(session.documents) for n in _NUMBER.findall(words)]
    too_many = any(_whole(n) > n_open for n in asked) or any(whole)
    return [words] if too_many else []


def _whole(number: str) -> int:
    return int(number.replace(",", ""))


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By true error: promises, how many are broken, and answers until they hold."""
    lines = []
    for rate in (*RATES, None):
        some = [r for r in rows if rate is None or r["rate"] == rate]
        holds = [r for r in some if r["holds"]]
        large = [r for r in holds if r["size"] >= 1000]
        lines.append(
            {
                "rate": rate,
                "projects": len(some),
                "promised": len(holds),
                "broken": sum(r["broken"] for r in holds),
                "median answers": _median([r["answers"] for r in holds]),
                "median answers from 1,000 documents": _median(
                    [r["answers"] for r in large]
                ),
                "impossible sentences": sum(len(r["impossible"]) for r in some),
            }
        )
    return lines


def _median(values: list[int]) -> float | None:
    return float(np.median(values)) if values else None


def table(name: str) -> str:
    """The stored figures for a page."""
    lines = json.loads(RESULTS.read_text(encoding="utf-8"))[name]["summary"]
    text = ["| wrong guesses | projects | promised | broken | answers until it holds |"]
    text.append("|---|--:|--:|--:|--:|")
    for line in lines:
        rate = "all" if line["rate"] is None else f"{100 * line['rate']:g} %"
        answers = line["median answers"]
        median = "–" if answers is None else f"{answers:.0f}"
        numbers = line["projects"], line["promised"], line["broken"]
        text.append(f"| {rate} | {' | '.join(map(str, numbers))} | {median} |")
    return "\n".join(text)


def main() -> None:
    """Simulate all and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=500)
    parser.add_argument("--blind", action="store_true")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    for number in range(options.projects):
        size = int(np.exp(rng.uniform(*np.log(SIZES))).round())
        rate = RATES[number % len(RATES)]
        belief = BELIEFS[number // len(RATES) % len(BELIEFS)]
        belief = BLIND if options.blind else belief
        rows.append(project(size, rate, belief, number))
        print(number, *rows[-1].values(), flush=True)
    command = f"python -m benchmarks.label_promise --projects {options.projects}"
    name = "blind" if options.blind else "ordered"
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    known[name] = {
        "command": command + " --blind" * options.blind,
        "summary": summary(rows),
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(table(name))


if __name__ == "__main__":
    main()
