"""
A sentence encoder as one more view
===================================

A model that others trained can be one more view of the documents beside earmark's
own. This one is MiniLM by whichever package is there::

    pip install 'earmark[fastembed]'
    earmark fetch minilm
    python examples/encoder_view.py

It needs weights, so it is no part of the gallery.
"""

import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus, labelled_per_class, stratified_split

documents = docstring_corpus()
texts = np.array([" ".join(row) for row in zip(*documents.texts.values(), strict=True)])
labels = np.array(documents.labels)
rows = np.random.default_rng(0).permutation(len(texts))[:1600]
train, test = stratified_split(labels[rows], 0.3, random_state=0)
train, test = rows[train], rows[test]
labelled, pool = labelled_per_class(labels[train], 5, random_state=0)
labelled, pool = train[labelled], train[pool]

for name, encoder in (("words only", None), ("with MiniLM", "minilm")):
    model = TextClassifier("semi-supervised", encoder=encoder, random_state=0)
    model.fit(texts[labelled], labels[labelled], unlabelled=texts[pool])
    print(f"{name}: {np.mean(model.predict(texts[test]) == labels[test]):.3f}")
