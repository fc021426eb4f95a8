"""
Is the confidence calibrated?
=============================

Naive Bayes counts every word as new evidence, so it is nearly always certain about long
texts. A reliability diagram shows this. A single temperature, fitted on documents that
took no part in training, corrects most of it without changing any answer.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.decision import TemperatureCalibrator
from earmark.documents import docstring_corpus, stratified_split
from earmark.evaluation import ReliabilityDisplay, reliability

corpus = docstring_corpus()
train, rest = stratified_split(corpus.labels, 0.5, random_state=0)
part, test = stratified_split([corpus.labels[i] for i in rest], 0.6, random_state=0)
known, calibration, unseen = map(corpus.take, (train, rest[part], rest[test]))

model = TextClassifier("multinomial").fit(known.joined(), known.labels)
raw = model.predict_log_proba(unseen.joined())

# %%
# Fit the temperature on the calibration part.
index = np.searchsorted(model.classes_, calibration.labels)
scores = model.predict_log_proba(calibration.joined())
calibrator = TemperatureCalibrator().fit(scores, index)
print(f"temperature {calibrator.temperature_:.2f}: above 1 it was too sure of itself")
mended = calibrator.transform(raw)

# %%
# The answers stay the same; only the confidence changes.
assert np.array_equal(raw.argmax(axis=1), mended.argmax(axis=1))
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2))
named = {"as it comes": raw, "with a temperature": mended}
for ax, (name, log_proba) in zip(axes, named.items(), strict=True):
    found = reliability(unseen.labels, np.exp(log_proba), model.classes_)
    print(f"{name}: calibration error {found.ece:.3f}, log loss {found.log_loss:.3f}")
    ReliabilityDisplay(found, name=name).plot(ax=ax)
    ax.set_title(f"{name}: error {found.ece:.3f}")
plt.show()
