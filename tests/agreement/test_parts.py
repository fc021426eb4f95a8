"""Every model that learns in parts, against the same documents in memory."""

import json

import numpy as np
import pytest

from earmark import TextClassifier
from earmark.distributed import fit
from tests.agreement.models import DATA, fitted, fresh, model_names


@pytest.mark.parametrize("name", model_names(in_parts=True))
def test_what_is_learned_in_parts_answers_as_what_is_learned_in_memory(name, tmp_path):
    texts, labels = DATA["one"][0]
    for n, places in enumerate(np.array_split(np.arange(len(texts)), 3)):
        rows = [json.dumps({"text": texts[i], "label": labels[i]}) for i in places]
        (tmp_path / f"part-{n}.jsonl").write_text("\n".join(rows) + "\n")
    parts = fit(TextClassifier(name, random_state=0), tmp_path)
    new, whole = fresh("one")[0], fitted(name, "one")
    np.testing.assert_array_equal(parts.predict(new), whole.predict(new))
    if name == "softmax":  # whose steps on parts are steps on all documents
        return
    log_proba = whole.predict_log_proba(new)
    np.testing.assert_allclose(parts.predict_log_proba(new), log_proba, atol=1e-9)
