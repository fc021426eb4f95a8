"""
Several labels per document
===========================

A docstring may be about sparse matrices *and* about solving equations. If the labels
are lists, ``TextClassifier`` makes one yes/no decision per label. Each label has its
own threshold, tuned on left-out scores. A document may get no label at all.
"""

import re

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus
from earmark.evaluation import multi_label_scores

# %%
# The topics come from words in the *name* of the function. The classifier sees only
# the text.
topics = {
    "array": r"array|matrix|vector",
    "random": r"random|rand|sample|rvs|seed",
    "file": r"file|path|load|save|open|read|write",
    "test": r"test|assert|check|valid",
    "text": r"str|text|format|parse|token",
    "time": r"time|date|wait|sleep|delay",
}
corpus = docstring_corpus()
names, texts = corpus.texts["name"], corpus.texts["text"]
labels = [
    [topic for topic, words in topics.items() if re.search(words, name, re.IGNORECASE)]
    for name in names
]
some = [i for i, one in enumerate(labels) if one]
rng = np.random.default_rng(0)
some = rng.permutation(some)
train, test = some[len(some) // 3 :], some[: len(some) // 3]
several = sum(len(labels[i]) > 1 for i in some)
print(f"{len(some)} documents, {several} of them with more than one label")

# %%
# Pass lists of labels for several labels per document.
model = TextClassifier("complement", random_state=0)
model.fit([texts[i] for i in train], [labels[i] for i in train])
answers = model.predict([texts[i] for i in test])
for i, answer in zip(test[:5], answers[:5], strict=True):
    print(f"{names[i]}: true {labels[i]}, answered {list(answer)}")

# %%
# Precision and recall per label. The labels are rough, and so are the figures.
scores = multi_label_scores([labels[i] for i in test], answers)
print(f"micro F1 {scores.micro.f1:.3f}, macro F1 {scores.macro.f1:.3f}")
fig, ax = plt.subplots(figsize=(6, 3.2))
place = np.arange(len(scores.per_class))
ax.bar(place - 0.2, [one.precision for one in scores.per_class], 0.4, label="precision")
ax.bar(place + 0.2, [one.recall for one in scores.per_class], 0.4, label="recall")
ax.set_xticks(place, [one.label for one in scores.per_class])
ax.set_ylabel("share of the decisions that are right")
ax.set_ylim(0, 1)
fig.legend(loc="outside right upper")
plt.show()
