"""A small model behind the service, in this process."""

import pytest
from starlette.testclient import TestClient

from earmark import TextClassifier
from earmark.apps.serve.app import make_app

TEXTS = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"] * 6
LABELS = ["spam", "ham", "spam", "ham"] * 6


def fitted(**parameters):
    classifier = TextClassifier("multinomial", **parameters).fit(TEXTS, LABELS)
    return classifier.measure_confidence(TEXTS, LABELS)


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "mail.earmark"
    fitted().save(path)
    return path


@pytest.fixture(scope="session")
def client(model_file):
    with TestClient(make_app(model_file, reload_seconds=0)) as client:
        yield client
