"""
Answer only when it is safe
===========================

You may not need every answer, but those you get should be right. ``max_error`` limits
the share of wrong answers, with a stated confidence. Uncertain documents are left to
people.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus, stratified_split
from earmark.evaluation import AccuracyCoverageDisplay

corpus = docstring_corpus()
train, rest = stratified_split(corpus.labels, 0.6, random_state=0)
part, test = stratified_split([corpus.labels[i] for i in rest], 0.5, random_state=0)
known, calibration, unseen = map(corpus.take, (train, rest[part], rest[test]))

# %%
# Calibration documents take no part in training. They test the guarantee.
model = TextClassifier("softmax", max_error=0.05)
model.fit(
    known.joined(),
    known.labels,
    calibration=(calibration.joined(), calibration.labels),
)
print(model.summary())

# %%
# None means "I don't know".
answers = model.predict(unseen.joined())
print(answers[:6])
answered = np.array([a is not None for a in answers])
right = answers[answered] == np.array(unseen.labels)[answered]
print(f"answered {answered.mean():.1%}, of these wrong {1 - right.mean():.1%}")

# %%
# A stricter limit gives fewer answers. The thresholds come from the same calibration
# documents, so nothing is retrained.
for max_error in (0.01, 0.02, 0.05, 0.1):
    model.set_params(max_error=max_error)
    decision = model.decide(unseen.joined())
    given = ~decision.abstained
    wrong = decision.labels[given] != np.array(unseen.labels)[given]
    share = f"{wrong.mean():.2%} wrong" if given.any() else "none needed"
    print(f"max_error {max_error:.2f}: answered {given.mean():6.1%}, {share}")

# %%
# Accuracy of the most confident answers by their share, and the chosen threshold.
model.set_params(max_error=0.05)
proba = model.predict_proba(unseen.joined())
AccuracyCoverageDisplay.from_predictions(
    unseen.labels,
    model.classes_[proba.argmax(axis=1)],
    proba.max(axis=1),
    name="softmax",
    threshold=model.min_confidence_,
)
plt.show()
