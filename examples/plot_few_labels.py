"""
Few labels, many documents
==========================

There are a few labelled docstrings per package, and many without a label. How much
does the unlabelled text help, and how many labels is it worth?
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus, labelled_per_class, stratified_split

documents = docstring_corpus()
texts = np.array(
    ["\n".join(row) for row in zip(*documents.texts.values(), strict=True)]
)
labels = np.array(documents.labels)
kept = [label for label in np.unique(labels) if (labels == label).sum() >= 200]
rows = np.flatnonzero(np.isin(labels, kept))
train, test = stratified_split(labels[rows], 0.3, random_state=0)
train, test = rows[train], rows[test]

# %%
# The same labels with and without the unlabelled pool. ``model="auto"`` uses the pool
# if it is large enough, and says so.

sizes = (2, 5, 10, 20)
more = (*sizes, 50, 100)


def accuracy(model, n, pooled):
    """Accuracy on the test part with n labels per class."""
    labelled, rest = labelled_per_class(labels[train], n, random_state=0)
    pool = texts[train[rest]] if pooled else None
    model.fit(texts[train[labelled]], labels[train[labelled]], unlabelled=pool)
    return np.mean(model.predict(texts[test]) == labels[test])


few = TextClassifier(random_state=0)
with_pool = [accuracy(few, n, True) for n in sizes]
without = [accuracy(TextClassifier("softmax"), n, False) for n in more]
print(few.summary())

# %%
# How many labels would you need without the pool?

for n, reached in zip(sizes, with_pool, strict=True):
    equal = np.interp(reached, without, more)
    print(
        f"{n * len(kept):4} labels and the pool: {reached:.3f}, "
        f"which takes {equal * len(kept):4.0f} labels alone"
    )

# %%
# The words behind an answer, and where their weight comes from.

print(few.explain(texts[test[:1]], top=8)[0])

# %%
# The fewer labels, the larger the gain.

figure, axis = plt.subplots(figsize=(5, 3.2))
axis.plot(sizes, with_pool, "o-", label="with the pool")
axis.plot(more, without, "s--", label="labelled documents only")
axis.set(xlabel="labels per class", ylabel="accuracy", xscale="log")
axis.set_xticks(more, [str(n) for n in more])
axis.legend()
