"""
A filter for datatrove and a callable for map_batches
=====================================================

Corpus tools bring their own executors and hand over documents one by one or in
batches. Two small classes are all that a model needs to serve there:
``EarmarkFilter`` has the interface of datatrove's ``BaseFilter`` (``filter`` and
``filter_batch``), and ``LabelBatches`` is the kind of callable class that Ray's
``Dataset.map_batches`` makes once for every worker, which NeMo Curator's stages
also take. Both load the model where they run: only its path travels.

With datatrove::

    from datatrove.pipeline.filters.base_filter import BaseFilter

    class Clean(EarmarkFilter, BaseFilter):
        def __init__(self, model, keep, min_confidence=0.5, batch_size=1000):
            BaseFilter.__init__(self, batch_size=batch_size)
            EarmarkFilter.__init__(self, model, keep, min_confidence)

With Ray::

    dataset.map_batches(
        LabelBatches, fn_constructor_args=("model.earmark",), batch_format="numpy",
        concurrency=8,
    )
"""

import tempfile
from pathlib import Path

import numpy as np

import earmark
from earmark import TextClassifier
from earmark.pipeline.text_filter import TextFilter


class EarmarkFilter:
    """datatrove's filter interface: True keeps, (False, reason) drops."""

    name = "earmark"

    def __init__(self, model, keep, min_confidence=0.5):
        self.model, self.keep, self.min_confidence = str(model), keep, min_confidence
        self._chosen = None

    @property
    def chosen(self):
        """The filter, loaded at first use in each process."""
        if self._chosen is None:
            model = earmark.load(self.model)
            self._chosen = TextFilter(model, self.keep, self.min_confidence)
        return self._chosen

    def __getstate__(self):
        return {**self.__dict__, "_chosen": None}

    def filter(self, doc):
        """One document."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch):
        """Many documents at once: much quicker than one by one."""
        stays = self.chosen.mask([doc.text for doc in batch]).tolist()
        return [True if keep else (False, "label") for keep in stays]


class LabelBatches:
    """Add a label and its probability to a batch: a dict of arrays or a data frame."""

    def __init__(self, model, text="text"):
        self.classifier = earmark.load(model)
        self.text = text

    def __call__(self, batch):
        decision = self.classifier.decide(list(batch[self.text]))
        batch = dict(batch) if isinstance(batch, dict) else batch.copy()
        batch["label"] = np.asarray(decision.labels)
        batch["confidence"] = decision.confidence
        return batch


# %%
# The same interface, without the packages: documents with a ``text``, and a batch.

if __name__ == "__main__":

    class Document:
        def __init__(self, text):
            self.text = text

    texts = ["a well written text", "buy now buy cheap", "read this text", "cheap buy"]
    labels = ["good", "spam", "good", "spam"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quality.earmark"
        TextClassifier("multinomial").fit(texts, labels).save(path)
        documents = [Document("a text to read"), Document("buy cheap")]
        print(EarmarkFilter(path, "good", 0.6).filter_batch(documents))
        print(LabelBatches(path)({"text": np.array(["cheap text", "well written"])}))
