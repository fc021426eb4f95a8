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
