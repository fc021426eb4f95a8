"""
Would more labels help?
=======================

Labels cost time. A learning curve shows how accuracy grows with the labels you have,
and a power law extends it. ``advice`` says what more labels would gain, or that another
model is the better investment.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus
from earmark.evaluation import LearningCurveDisplay, learning_curve

corpus = docstring_corpus()
rows = np.random.default_rng(1).permutation(len(corpus))[:1500]
corpus = corpus.take(rows.tolist())

# %%
# The training sets are nested, so the curve is smooth.
curves = {
    name: learning_curve(TextClassifier(name), corpus.joined(), corpus.labels)
    for name in ("complement", "softmax")
}
for name, curve in curves.items():
    print(f"{name}: {curve.advice}\n")

# %%
# Dots are measurements, lines are the fitted power law.
fig, ax = plt.subplots(figsize=(6, 4))
for name, curve in curves.items():
    LearningCurveDisplay(curve, name=name).plot(ax=ax)
plt.show()
