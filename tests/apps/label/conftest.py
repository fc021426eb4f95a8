"""Small projects and sessions."""

import numpy as np
import pytest
from starlette.testclient import TestClient

from earmark.apps.label.app import make_app
from earmark.apps.label.project import open_project
from earmark.documents import Documents

TOPICS = {
    "cat": "cat purrs sleeps warm mat paws whiskers fur mouse kitten",
    "car": "car needs fuel engine wheel road brakes garage drive motor",
    "tea": "tea cup honey lemon green leaf kettle water steam sugar",
}


def documents(n=60):
    """Eight words each: the topic's name, five of its words, two of any."""
    rng = np.random.default_rng(0)
    names, everything = list(TOPICS), " ".join(TOPICS.values()).split()
    texts = []
    for i in range(n):
        own = TOPICS[names[i % 3]].split()
        words = [names[i % 3], *rng.choice(own, 5), *rng.choice(everything[1:], 2)]
        texts.append(" ".join(rng.permutation(words)))
    return Documents(texts, rows=range(1, n + 1), source="small.csv")


def truth(document):
    return list(TOPICS)[document % 3]


@pytest.fixture
def project(tmp_path):
    """Opens the same project again and again, closing the last session."""
    opened = []

    def open_again(**settings):
        if opened:
            opened.pop().close()
        made = open_project(
            documents(), tmp_path / "project", labels=list(TOPICS), **settings
        )
        opened.append(made)
        return made

    yield open_again
    for session in opened:
        session.close()


@pytest.fixture
def client(tmp_path):
    session = open_project(documents(), tmp_path / "p", labels=list(TOPICS))
    with TestClient(make_app(session), base_url="http://localhost") as client:
        client.session = session
        yield client


@pytest.fixture
def team(tmp_path):
    session = open_project(
        documents(), tmp_path / "p", labels=list(TOPICS), overlap=0.5
    )
    with TestClient(make_app(session), base_url="http://localhost") as client:
        client.session = session
        yield client


def post(client, path, status=200, person="ann", headers=None, **body):
    body = {"client": f"{person}-tab", "person": person, **body}
    reply = client.post(f"/api/{path}", json=body, headers=headers)
    assert reply.status_code == status, reply.text
    return reply.json()


def label_all(client, person, says, n=200):
    """Answer whatever is asked; gives the documents."""
    asked = []
    data = post(client, "next", person=person)["document"]
    while data is not None and len(asked) < n:
        document = data["document"]
        data = post(
            client, "answer", person=person, key=f"{person}-{len(asked)}",
            document=document, labels=[says(document)],
        )["document"]  # fmt: skip
        asked.append((document, data))
    return [document for document, _ in asked]
