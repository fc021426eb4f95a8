"""
Few labels, many documents
==========================

Five labelled docstrings a package, the others without a label: how much does the
unlabelled text help, what was learned from it, and how far can the confidence be
believed?
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
# The same labels with and without the pool. ``model="auto"`` uses the pool as soon
# as it is large enough, and says so.

sizes = (2, 5, 20)
with_pool, without = [], []
for n in sizes:
    labelled, pool = labelled_per_class(labels[train], n, random_state=0)
    given = texts[train[labelled]], labels[train[labelled]]
    few = TextClassifier(random_state=0).fit(*given, unlabelled=texts[train[pool]])
    alone = TextClassifier("softmax").fit(*given)
    with_pool.append(np.mean(few.predict(texts[test]) == labels[test]))
    without.append(np.mean(alone.predict(texts[test]) == labels[test]))
print(few.summary())

# %%
# Which words decided, and where their weight comes from.

print(few.explain(texts[test[:1]], top=8)[0])

# %%
# The gain is largest where labels are fewest.

figure, axis = plt.subplots(figsize=(5, 3.2))
axis.plot(sizes, with_pool, "o-", label="with the pool")
axis.plot(sizes, without, "s--", label="labelled documents only")
axis.set(xlabel="labels a class", ylabel="accuracy", xscale="log")
axis.set_xticks(sizes, [str(n) for n in sizes])
axis.legend()
figure.tight_layout()
