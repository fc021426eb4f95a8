"""Two people in Chromium on docstrings, with a server that is killed ten times."""

import csv
import json
import os
import random
import re
import signal
import socket
import sqlite3
import statistics
import time

import pytest
from playwright.sync_api import expect

from earmark.documents import docstring_corpus
from tests.apps.page_checks import Browser
from tests.apps.serving import Server

pytestmark = pytest.mark.slow
N_DOCUMENTS = 300
N_ANSWERS = 250
N_KILLS = 10


@pytest.fixture
def project(tmp_path):
    options = ("--overlap", "0.2", "--max-error", "0.25", "--check-share", "0.3")
    project = Project(tmp_path, *options)
    project.start()
    yield project
    project.kill()


@pytest.fixture(scope="module")
def browser():
    with Browser() as made:
        yield made


class Project:
    """Documents with known labels, and a server that is started again at will."""

    def __init__(self, folder, *options):
        corpus = docstring_corpus()
        texts = ["\n".join(parts) for parts in zip(*corpus.texts.values(), strict=True)]
        names = ["asyncio", "email", "narwhals", "rich"]
        rows = [row for row, label in enumerate(corpus.labels) if label in names]
        rows = random.Random(0).sample(rows, N_DOCUMENTS)
        self.truth = [corpus.labels[row] for row in rows]
        self.names, self.folder = names, folder
        self.data = folder / "docstrings.csv"
        with self.data.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text"])
            writer.writerows([texts[row]] for row in rows)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.options = ("--labels", ",".join(names), "--port", self.port, *options)
        self.server = None

    def start(self):
        self.server = Server(
            "label", self.data, "--project", self.folder / "p", *self.options
        )
        return self.server.url

    def kill(self):
        self.server.stop(signal.SIGKILL)

    def log(self):
        with sqlite3.connect(self.folder / "p" / "answers.sqlite") as db:
            rows = db.execute(
                "SELECT key, document, labels, how, person, undone FROM log"
            ).fetchall()
        db.close()
        return rows


class Person:
    """Answers by keyboard; remembers every answer that the page called saved."""

    def __init__(self, browser, project, name, says):
        self.project, self.name, self.says = project, name, says
        self.page = browser.page()
        self.page.goto(project.server.url)
        self.page.locator("#who[open]").wait_for()  # overlap needs names
        self.page.fill("#who-name", name)
        self.page.click("#who-form button")
        self.page.locator("#me").filter(has_text=name).wait_for()
        self.page.locator("#document .part").first.wait_for()
        self.acknowledged = {}

    def row(self):
        words = self.page.inner_text("#document-name").split()
        return int(words[1]) - 1 if words[0] == "Row" else None

    def answer(self, before=None):
        """Answer the document; ``before`` stops a server, which is then killed."""
        row = self.row()
        if row is None:
            return False
        label = self.says(row, "two people" in self.page.inner_text("#why"))
        if before is not None:
            before()
        self.page.keyboard.press(str(1 + self.project.names.index(label)))
        if before is not None:
            self.page.wait_for_timeout(150)
            self.project.kill()
            self.project.start()
        self.page.locator("#document-name").filter(
            has_not_text=re.compile(f"^Row {row + 1}$")
        ).wait_for(timeout=60_000)
        self.acknowledged[row] = label
        return True


def change(page, action, old, new):
    page.select_option("#change-action", action)
    page.select_option("#change-old", old)
    page.fill("#change-new", new)
    page.click("#change-form button")
    page.locator("#changes li").filter(has_text=re.compile(f"^{action}")).wait_for()


def label_with_kills(project, people, turns):
    """Take turns; at ten points in all the server dies while an answer is under way."""
    kills = {round((n + 0.5) * N_ANSWERS / N_KILLS) for n in range(N_KILLS)}
    for number in turns:
        person = people[number % 2]
        if number in kills:
            person.answer(lambda: os.kill(project.server.process.pid, signal.SIGSTOP))
        else:
            assert person.answer()


def settle_all(page, project, n_disputes):
    """Adjudicate every disagreement; who did so is on disk."""
    page.click("#tab-project")
    page.locator("#agreement tbody tr").first.wait_for()
    assert "ann and bob" in page.inner_text("#agreement")
    page.click("#to-disputed")
    for left in range(n_disputes, 0, -1):
        lines = page.locator(".more-line")
        expect(lines).to_have_count(left)
        lines.first.locator("button", has_text="ann is right").click()
    expect(page.locator(".more-line")).to_have_count(0)
    settled = [entry for entry in project.log() if entry[3] == "settled"]
    assert [entry[4] for entry in settled] == ["bob"] * n_disputes
    page.click("#tab-label")


def check_now(person):
    """Have the guesses of the frozen model checked until they are promised."""
    page, n_checks = person.page, 0
    page.wait_for_function(
        "() => !document.getElementById('accept').hidden"
        " || !document.getElementById('audit').hidden",
        timeout=60_000,
    )
    if page.locator("#accept").is_hidden() and "now" in page.inner_text("#audit"):
        page.click("#audit")
        page.locator("#why").filter(has_text="check of a guess").wait_for()
        page.evaluate("() => document.activeElement.blur()")
    while page.locator("#accept").is_hidden():
        assert person.answer()
        n_checks += 1
    return n_checks


def accept_and_undo(page, project):
    """Accept what is promised, take it back by one undo, and accept it again."""
    page.click("#tab-label")
    page.locator("#accept").wait_for(timeout=60_000)
    n_sure = int(re.search(r"[\d,]+", page.inner_text("#accept"))[0].replace(",", ""))
    page.click("#accept")
    page.locator("#saved").filter(has_text="accepted").wait_for()
    assert len([entry for entry in project.log() if entry[3] == "bulk"]) == n_sure
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("u")
    page.locator("#saved").filter(has_text="undone").wait_for()
    assert all(entry[5] for entry in project.log() if entry[3] == "bulk")
    page.click("#accept")
    page.locator("#saved").filter(has_text="accepted").wait_for()


def exported_answers(page, folder):
    page.click("#export summary")
    with page.expect_download() as waiting:
        page.click("text=Every answer")
    waiting.value.save_as(folder / "answers.csv")
    with (folder / "answers.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_two_people_label_together_and_nothing_is_lost_or_doubled(
    browser, project, tmp_path
):
    names, differing = project.names, set()

    def other(row, is_asked_twice):  # another opinion, until the two have met
        place = names.index(project.truth[row])
        if is_asked_twice and row % 6 == 0 and not differing:
            return names[(place + 1) % len(names)]
        return project.truth[row]

    ann = Person(browser, project, "ann", lambda row, _: project.truth[row])
    bob = Person(browser, project, "bob", other)
    label_with_kills(project, (ann, bob), range(140))
    both = set(ann.acknowledged) & set(bob.acknowledged)
    differing |= {d for d in both if ann.acknowledged[d] != bob.acknowledged[d]}
    assert len(both) >= 10
    assert differing
    settle_all(bob.page, project, len(differing))
    label_with_kills(project, (ann, bob), range(140, N_ANSWERS))
    log = [entry for entry in project.log() if entry[3] == "asked"]
    on_disk = {(who, row): json.loads(label)[0] for _, row, label, _, who, _ in log}
    said = {(p.name, row): la for p in (ann, bob) for row, la in p.acknowledged.items()}
    assert on_disk == said
    assert len(log) == len(said) == N_ANSWERS

    page = bob.page
    n_asked = N_ANSWERS + check_now(bob)
    page.click("#tab-project")
    change(page, "rename", names[0], "first package")
    change(page, "merge", names[1], names[2])
    labels = page.locator("#label-table tbody tr").all_inner_texts()
    assert [label.strip() for label in labels] == ["first package", names[2], names[3]]
    accept_and_undo(page, project)
    rows = exported_answers(page, tmp_path)
    assert {row["person"] for row in rows} == {"ann", "bob", "model"}
    assert all(row["at"].startswith("20") for row in rows)
    assert len([row for row in rows if row["how"] == "asked"]) == n_asked
    counting = [row["row"] for row in rows if row["counts"] == "True"]
    assert len(counting) == len(set(counting)) > 0.9 * N_DOCUMENTS
    assert names[1] not in {row["label"] for row in rows}
    for person in (ann, bob):
        person.page.context.close()


def short_for(label):
    """What a person types: a piece of the area, of what it is, and the number."""
    area, what = label.split("/")
    return f"{area[:2]} {what[:2]} {what[-2:]}"


def test_150_labels_by_typing_and_by_clicking(browser, tmp_path, record_property):
    """Median time from document to answer of a scripted person, both ways."""
    names = [
        f"{area}/{what} {number:02}"
        for area in ("account", "card", "loan")
        for number in range(25)
        for what in ("question about", "complaint about")
    ]
    assert len(names) == 150
    data = tmp_path / "data.csv"
    wanted = random.Random(1).sample(names, 40)
    data.write_text("text\n" + "\n".join(f"row {n} {w}" for n, w in enumerate(wanted)))
    server = Server(
        "label", data, "--labels", ",".join(names), "--project", tmp_path / "p"
    )
    try:
        page = browser.page()
        page.goto(server.url)
        page.locator("#document .part").first.wait_for()
        times = {"typing": [], "clicking": []}
        for number in range(40):
            way = ("typing", "clicking")[number % 2]
            row = int(page.inner_text("#document-name").split()[1])
            label = wanted[row - 1]
            started = time.perf_counter()
            if way == "typing":
                page.keyboard.press("f")
                for letter in short_for(label):
                    page.keyboard.press(letter)
                page.keyboard.press("Enter")
            else:
                page.wait_for_timeout(200)  # to read it; a click at once is a slip
                page.locator(f'#labels button[data-label="{label}"]').click()
            page.locator("#document-name").filter(
                has_not_text=re.compile(f"^Row {row}$")
            ).wait_for()
            times[way].append(time.perf_counter() - started)
        for way, seconds in times.items():
            record_property(way, statistics.median(seconds))
            print(way, f"{1000 * statistics.median(seconds):.0f} ms")  # noqa: T201
        assert statistics.median(times["typing"]) < 2
        with sqlite3.connect(tmp_path / "p" / "answers.sqlite") as db:
            rows = db.execute("SELECT document, labels FROM log").fetchall()
        db.close()
        assert {d: json.loads(label)[0] for d, label in rows} == dict(enumerate(wanted))
        page.context.close()
    finally:
        server.stop(signal.SIGKILL)
