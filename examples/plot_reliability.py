"""
Is the confidence calibrated?
=============================

Naive Bayes counts every word as new evidence, so it is nearly always certain about long
texts. A reliability diagram shows this. A single temperature, fitted on documents that
took no part in training, corrects most of it without changing any answer.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from earmark import TextClassifier
from earmark.documents import docstring_corpus, stratified_split
from earmark.evaluation import reliability

corpus = docstring_corpus()
train, rest = stratified_split(corpus.labels, 0.5, random_state=0)
part, test = stratified_split([corpus.labels[i] for i in rest], 0.6, random_state=0)
known, calibration, unseen = map(corpus.take, (train, rest[part], rest[test]))

model = TextClassifier("multinomial").fit(known.joined(), known.labels)
raw = model.predict_log_proba(unseen.joined())

# %%
# Fit the temperature on the calibration part: the T for which the labels are most
# probable. ``TextClassifier`` does so by itself for models without probabilities.
index = np.searchsorted(model.classes_, calibration.labels)
scores = model.predict_log_proba(calibration.joined())


def loss(temperature):
    own = log_softmax(scores / temperature, axis=1)[np.arange(len(index)), index]
    return -own.mean()


temperature = minimize_scalar(loss, bounds=(0.1, 100), method="bounded").x
print(f"temperature {temperature:.2f}: above 1 it was too sure of itself")
mended = log_softmax(raw / temperature, axis=1)

# %%
# The answers stay the same; only the confidence changes.
assert np.array_equal(raw.argmax(axis=1), mended.argmax(axis=1))
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2))
named = {"as it comes": raw, "with a temperature": mended}
for ax, (name, log_proba) in zip(axes, named.items(), strict=True):
    found = reliability(unseen.labels, np.exp(log_proba), model.classes_)
    print(f"{name}: calibration error {found.ece:.3f}, log loss {found.log_loss:.3f}")
    full = found.count > 0
    size = 20 + 180 * found.count[full] / found.count.max()
    ax.plot([0, 1], [0, 1], "--", color="#6b747e", marker="", linewidth=1)
    ax.scatter(found.confidence[full], found.accuracy[full], size, zorder=3)
    ax.set(xlabel="Stated confidence", ylabel="Share right", xlim=(0, 1), ylim=(0, 1))
    ax.set_title(f"{name}: error {found.ece:.3f}")
plt.show()
