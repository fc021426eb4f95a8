"""
Learn and unlearn single documents, exactly
===========================================

A customer asks you to delete a document, or a label turns out to be wrong. The count
models keep exact sums, so you can remove a document again. The model is then
identical, bit for bit, to one that never saw it, without retraining.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus
from earmark.exceptions import DataError

corpus = docstring_corpus()
texts, labels = corpus.joined(), np.array(corpus.labels)
order = np.random.default_rng(0).permutation(len(texts))
texts, labels = [texts[i] for i in order], labels[order]

# %%
# Learn everything, then forget the first hundred.
model = TextClassifier("multinomial").fit(texts, labels)
model.forget(texts[:100], labels[:100])
never = TextClassifier("multinomial").fit(texts[100:], labels[100:])
same = np.array_equal(model.predict_proba(texts), never.predict_proba(texts))
print("as if never seen:", same)

# %%
# Forgetting an unknown document is an error and changes nothing.
try:
    model.forget(["a text that was never learned, xyzzy"], [labels[0]])
except DataError as error:
    print(error)

# %%
# In a stream, learn the newest documents and forget the oldest. With ``window``
# documents in memory, the model follows changes. Here the labels change their meaning
# half way.
names = np.unique(labels)
shifted = dict(zip(names, np.roll(names, 1), strict=True))
stream = labels.copy()
stream[len(stream) // 2 :] = [shifted[y] for y in stream[len(stream) // 2 :]]
window, step = 800, 100
accuracy = {"forgetting": [], "remembering everything": []}
for name, found in accuracy.items():
    model = TextClassifier("multinomial")
    model.partial_fit(texts[:window], stream[:window], classes=names)
    for start in range(window, len(texts) - step, step):
        new = slice(start, start + step)
        found.append(np.mean(model.predict(texts[new]) == stream[new]))
        model.partial_fit(texts[new], stream[new])
        if name == "forgetting":
            old = slice(start - window, start - window + step)
            model.forget(texts[old], stream[old])

fig, ax = plt.subplots(figsize=(6.5, 3.5))
for name, found in accuracy.items():
    ax.plot(window + step * np.arange(len(found)), found, label=name)
ax.axvline(len(texts) // 2, color="0.5", ls="--", label="labels change meaning")
ax.set(xlabel="documents seen", ylabel="accuracy on the next hundred")
ax.legend()

plt.show()
