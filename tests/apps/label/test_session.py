"""Sessions: answers, undo, several tabs, resuming, bulk acceptance."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from earmark.apps.web.replies import Refusal
from earmark.exceptions import DataError
from tests.apps.label.conftest import TOPICS, truth


def answer_some(session, n, client="tab", start=0):
    asked = []
    for number in range(start, start + n):
        document, _ = session.next_document(client)
        key = f"{client}-{number}"
        assert session.answer(key, client, document, [truth(document)], "asked")
        asked.append(document)
    return asked


def test_every_document_is_asked_once(project):
    session = project()
    asked = answer_some(session, 60)
    assert sorted(asked) == list(range(60))
    assert session.next_document("tab") is None


def test_a_session_goes_on_where_it_was(project):
    first = project()
    asked = answer_some(first, 12)
    again = project()
    assert sorted(again.entries) == sorted(asked)
    assert {d: e.labels[0] for d, e in again.entries.items()} == {
        d: truth(d) for d in asked
    }
    assert again.wait()
    assert again.view.n_learned + again.view.estimate.n_documents == 12
    assert again.next_document("tab")[0] not in asked


def test_a_tab_keeps_its_document_and_others_get_another(project):
    session = project()
    mine = session.next_document("a")[0]
    other = session.next_document("b")[0]
    assert mine != other
    assert session.next_document("a")[0] == mine


def test_undo_shows_the_document_again_and_the_model_forgets(project):
    session = project()
    asked = answer_some(session, 10)
    assert session.undo("tab") == [asked[-1]]
    assert session.next_document("tab")[0] == asked[-1]
    assert asked[-1] not in session.loop.answers
    assert session.wait()
    assert session.view.n_learned + session.view.estimate.n_documents == 9
    assert session.undo("stranger") == []


def test_two_tabs_at_once_neither_lose_nor_double(project):
    session = project()
    threads = [
        threading.Thread(target=answer_some, args=(session, 20, name))
        for name in ("a", "b")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(session.entries) == 40
    assert len(session.entries) == 40
    log = session.store._all("SELECT count(*) FROM log")
    assert log == [(40,)]


def test_the_guess_on_a_check_is_not_learned_from(project):
    session = project()
    answer_some(session, 30)
    assert session.wait()
    checks = [d for d in session.entries if session.loop.is_check[d]]
    assert len(checks) == session.view.estimate.n_documents
    assert session.view.n_learned == 30 - len(checks)


def test_wrong_answers_are_refused_and_change_nothing(project):
    session = project()
    for labels in (["dog"], [], ["cat", "car"], ["cat", "cat"]):
        with pytest.raises(Refusal, match="label"):
            session.answer("k", "tab", 0, labels, "asked")
    with pytest.raises(Refusal, match="no such document"):
        session.answer("k", "tab", 60, ["cat"], "asked")
    with pytest.raises(Refusal, match="characters"):
        session.add_label("  ")
    with pytest.raises(Refusal, match="printable"):
        session.add_label("x\0y")
    assert not session.entries


def test_a_new_label_is_learned(project):
    session = project()
    asked = answer_some(session, 20)
    session.add_label("  odd   one ")
    for number, document in enumerate(asked[:3]):
        session.answer(f"new-{number}", "tab", document, ["odd one"], "browse")
    assert session.wait()
    assert "odd one" in session.store.labels()
    assert sum(e.labels == ("odd one",) for e in session.entries.values()) == 3


def test_any_number_of_labels(project):
    session = project(any_of=True)
    for number in range(30):
        document, _ = session.next_document("tab")
        labels = [truth(document)] + (["tea"] if document % 2 else [])
        labels = [] if document % 10 == 0 else list(dict.fromkeys(labels))
        session.answer(f"k{number}", "tab", document, labels, "asked")
    assert session.wait()
    assert session.view.fitted is not None
    assert session.view.estimate.n_documents > 3


def audited(project, n=12, n_wrong=0):
    """A session whose guesses were checked until they are promised."""
    session = project(max_error=0.3)
    answer_some(session, n)
    assert session.wait()
    session.begin_audit()
    number = 0
    while session.loop.is_auditing:
        document, why = session.next_document("tab")
        assert why == "audit"
        assert not session.may_see(document, "")
        session.answer(f"a{number}", "tab", document, [truth(document)], "asked")
        number += 1
    return session, n + number


def test_promised_guesses_are_accepted_and_undone_together(project):
    session, n_answers = audited(project)
    n_acceptable = int(session.acceptable().sum())
    assert n_acceptable == session.loop.standing().n_documents - (n_answers - 12) > 0
    assert session.accept("bulk-1", "tab") == n_acceptable
    assert session.accept("bulk-1", "tab") == 0
    taken = {d: e for d, e in session.entries.items() if e.how == "bulk"}
    assert len(taken) == n_acceptable
    right = np.mean([e.labels[0] == truth(d) for d, e in taken.items()])
    assert right >= 0.7
    assert session.wait()
    # What the model said itself teaches it nothing.
    assert len(session.loop.answers) == n_answers
    assert len(session.undo("tab")) == n_acceptable
    assert len(session.entries) == n_answers


def test_the_model_is_frozen_while_its_guesses_are_checked(project):
    session = project(max_error=0.3)
    answer_some(session, 12)
    assert session.wait()
    version = session.view.version
    session.begin_audit()
    audit = session.loop.audit
    for number in range(3):
        document, why = session.next_document("tab")
        assert (why, document) == ("audit", audit.documents[number])
        session.answer(f"a{number}", "tab", document, [truth(document)], "asked")
    assert session.wait()
    assert session.view.version == version
    again = project(max_error=0.3)  # after a restart, the same checks go on
    assert again.loop.standing() == session.loop.standing()
    assert again.next_document("tab")[0] == audit.documents[3]
    again.end_audit()
    assert again.wait()
    assert not again.loop.is_auditing
    # What was answered meanwhile is learned from now.
    assert again.view.n_learned + len(again.loop.checks()) >= 12


def test_an_audit_out_of_reach_ends_by_itself_and_the_next_one_spends_less(project):
    session = project(max_error=0.3)
    answer_some(session, 12)
    assert session.wait()
    session.begin_audit()
    risk, number = session.loop.audit.risk, 0
    while session.loop.is_auditing:
        document, _ = session.next_document("tab")
        wrong = next(n for n in TOPICS if n != truth(document))
        session.answer(f"a{number}", "tab", document, [wrong], "asked")
        number += 1
    assert session.loop.audit is None
    assert session.loop.granted is None
    assert session.loop.next_risk < risk
    assert number < 48


def test_an_audit_that_is_no_use_is_refused(project):
    session = project(max_error=0.01)  # of 60 documents nearly all would be read
    answer_some(session, 20)
    assert session.wait()
    with pytest.raises(Refusal, match="worth checking"):
        session.begin_audit()


def test_a_check_left_open_in_a_closed_tab_is_served_first_to_the_next(
    project, monkeypatch
):
    from earmark.apps.label import session as module

    monkeypatch.setattr(module, "_RETURN_SECONDS", 0.0)
    session = project()
    order = session.loop.check_order.tolist()
    session._leases[order[0]] = ("gone", time.monotonic() + 300, "check")
    for number, document in enumerate(order[1:4]):
        session.answer(f"k{number}", "here", document, [truth(document)], "asked")
    assert session.loop.n_checks_waiting == 3
    assert session.next_document("here")[0] != order[0]
    session.release("gone")
    session.release("here")
    assert session.next_document("new") == (order[0], "check")
    session.answer("first", "new", order[0], [truth(order[0])], "asked")
    assert session.loop.n_checks_waiting == 0
    assert session.wait()
    assert session.view.estimate.n_documents in (0, 4)


def test_a_crashed_browser_frees_its_check_and_a_living_one_keeps_it(
    project, monkeypatch
):
    from earmark.apps.label import session as module

    assert module._LEASE_SECONDS <= 30
    now = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    session = project()
    crashed = session.next_document("crashed")[0]
    living = session.next_document("living")[0]
    for _ in range(4):
        now[0] += 10
        session.renew("living")
    assert session.next_document("other")[0] == crashed
    assert session.next_document("living")[0] == living


def test_a_reload_gets_the_same_document_back(project):
    session = project()
    document, why = session.next_document("tab")
    session.release("tab")
    assert session.next_document("tab") == (document, why)


def test_the_promise_outlives_restarts_and_renames(project):
    session, _ = audited(project)
    covered = session.acceptable()
    assert covered.any()
    for _ in range(3):
        session = project(max_error=0.3)
        assert (session.acceptable() == covered).all()
        assert session.wait()
    session.change_labels("rename", ["cat"], ["kitten"])
    assert (session.acceptable() == covered).all()
    session.change_labels("merge", ["kitten"], ["car"])
    assert session.accept("bulk", "tab") == covered.sum()
    said = {e.labels[0] for e in session.entries.values() if e.how == "bulk"}
    assert said <= {"car", "tea"}
    session.undo("tab")
    session.change_labels("delete", ["tea"], [])
    assert session.loop.granted is None


def test_a_model_of_before_guesses_first_and_is_left_when_it_is_wrong(tmp_path):
    from earmark import TextClassifier
    from earmark.apps.label.project import open_project
    from tests.apps.label.conftest import documents

    texts = documents().texts
    good = TextClassifier("multinomial").fit(texts[:30], [truth(d) for d in range(30)])
    wrong = {"cat": "car", "car": "tea", "tea": "cat"}
    bad = TextClassifier("multinomial").fit(
        texts[:30], [wrong[truth(d)] for d in range(30)]
    )
    for name, model, expected in (("g", good, 1.0), ("b", bad, 0.0)):
        session = open_project(documents(), tmp_path / name, start=model)
        assert session.store.labels() == ["car", "cat", "tea"]
        assert session.wait()
        guesses = session.view.guesses(np.arange(60))
        right = np.mean([g == (truth(d),) for d, g in enumerate(guesses)])
        assert abs(right - expected) < 0.1
        answer_some(session, 40)
        assert session.wait()
        guesses = session.view.guesses(np.arange(60))
        assert np.mean([g == (truth(d),) for d, g in enumerate(guesses)]) > 0.9
        session.close()


def share_right(session):
    assert session.wait()
    guesses = session.view.guesses(np.arange(60))
    return np.mean([g == (truth(d),) for d, g in enumerate(guesses)])


def test_names_of_labels_are_a_start(tmp_path):
    from earmark.apps.label.project import open_project
    from tests.apps.label.conftest import TOPICS, documents

    session = open_project(documents(), tmp_path, labels=list(TOPICS), start="names")
    assert share_right(session) > 0.6
    session.close()


def test_names_that_speak_are_a_start_however_many_do_not(tmp_path):
    from earmark.apps.label.project import open_project
    from tests.apps.label.conftest import documents

    labels = ["the_cat", "motor_car", "tea_cup", *(f"C{n:02}" for n in range(20))]
    session = open_project(documents(), tmp_path, labels=labels, start="names")
    assert session.wait()
    assert session.view.fitted.classes == ["motor_car", "tea_cup", "the_cat"]
    guesses = [guess[0] for guess in session.view.guesses(np.arange(60))]
    right = np.mean([truth(d) in guess for d, guess in enumerate(guesses)])
    assert right > 0.6
    session.close()
    with pytest.raises(DataError, match="fewer than two labels say something"):
        open_project(documents(), tmp_path / "q", labels=["cat", "C12"], start="names")


def test_from_names_alone_nobody_knows_how_sure_the_guesses_are(tmp_path):
    from earmark.apps.label.project import open_project
    from earmark.apps.label.views import Browser, Question, document_data, state_data
    from tests.apps.label.conftest import documents

    session = open_project(documents(), tmp_path, labels=list(TOPICS), start="names")
    assert session.wait()
    assert np.isnan(session.view.confidence).all()
    open_ = int(session.loop.learn_order[0])
    data = document_data(session, open_, "first")
    assert data["guess"]["labels"]
    assert data["guess"]["confidence"] is None
    listed = Browser(session).listed(Question())
    assert {line["confidence"] for line in listed["documents"]} == {None}
    assert "only the names" in state_data(session)["model"]
    with pytest.raises(Refusal, match="worth checking"):
        session.begin_audit()
    answer_some(session, 20)
    assert session.wait()
    assert not np.isnan(session.view.confidence).any()
    session.close()


def test_of_planted_wrong_answers_most_are_listed_and_most_of_the_list_is_wrong(
    tmp_path,
):
    from earmark.apps.label.project import open_project
    from earmark.apps.label.views import Browser, Question
    from tests.apps.label.conftest import TOPICS, documents

    rng, names = np.random.default_rng(0), list(TOPICS)
    wrong = set(rng.choice(180, 27, replace=False).tolist())
    labels = [
        names[(names.index(truth(d)) + int(rng.integers(1, 3))) % 3]
        if d in wrong
        else truth(d)
        for d in range(180)
    ]
    data = replace(documents(300), labels=labels + [None] * 120)
    session = open_project(data, tmp_path, check_share=0.0)
    assert session.wait()
    listed = Browser(session).rows(Question(show="suspects"), "")[0].tolist()
    assert len(wrong.intersection(listed)) > 0.5 * len(wrong)
    assert len(wrong.intersection(listed)) > 0.8 * len(listed)
    session.close()


def test_names_are_a_start_by_themselves_where_every_label_speaks(tmp_path):
    from earmark.apps.label.project import open_project
    from earmark.apps.label.views import state_data
    from tests.apps.label.conftest import TOPICS, documents

    session = open_project(
        documents(), tmp_path / "p", labels=list(TOPICS), start="auto"
    )
    assert session.wait()
    assert share_right(session) > 0.6
    assert np.isnan(session.view.confidence).all()
    assert "only the names" in state_data(session)["model"]
    answer_some(session, 20)
    assert session.wait()
    assert not np.isnan(session.view.confidence).any()
    session.close()
    for number, labels in enumerate(([*TOPICS, "C12"], ["cat"], [])):
        folder = tmp_path / f"silent-{number}"
        session = open_project(documents(), folder, labels=labels, start="auto")
        assert session.wait()
        assert session.view.fitted is None
        session.close()


def test_a_project_with_enough_answers_does_not_go_back_to_names(tmp_path):
    from earmark.apps.label.project import open_project
    from tests.apps.label.conftest import TOPICS, documents

    for start in (None, "auto"):
        session = open_project(documents(), tmp_path, labels=list(TOPICS), start=start)
        if start is None:
            answer_some(session, 30)
        assert session.wait()
        assert session.view.fitted.full.n_answers >= 10
        session.close()


def test_a_table_of_labels_says_what_they_mean_and_where_they_are_listed(tmp_path):
    from earmark.apps.label.project import open_project, read_labels
    from tests.apps.label.conftest import TOPICS, documents

    path = tmp_path / "labels.csv"
    lines = [f"{name}-x,{words},things / {name[0]}," for name, words in TOPICS.items()]
    path.write_text("\n".join(["label,description,group,key", *lines]))
    folder = tmp_path / "project"
    session = open_project(documents(), folder, labels=read_labels(path), start="names")
    assert session.store.labels() == ["cat-x", "car-x", "tea-x"]
    assert session.store.label_facts()[2]["group"] == "things / t"
    assert session.wait()
    guesses = session.view.guesses(np.arange(60))
    right = np.mean([g == (f"{truth(d)}-x",) for d, g in enumerate(guesses)])
    assert right > 0.8  # the names alone mean nothing, their descriptions do
    session.describe_label("cat-x", "said on the page", group="pets")
    session.close()
    again = open_project(documents(), folder, labels=read_labels(path))
    assert again.store.label_facts()[0]["description"] == "said on the page"
    assert again.store.label_facts()[0]["group"] == "pets"
    again.close()
    path.write_text("name,description\na,b\n")
    with pytest.raises(DataError, match="expected the columns label, description"):
        read_labels(path)


def test_descriptions_of_labels_become_class_names_of_the_exported_model(project):
    from earmark.apps.label.project import fit_model

    session = project()
    session.describe_label("cat", "purrs, whiskers", "")
    answer_some(session, 30)
    model = fit_model(session)
    assert model.class_names == {"cat": ["cat", "purrs, whiskers"]}
    assert model.predict(["purrs whiskers fur"]).tolist() == ["cat"]
