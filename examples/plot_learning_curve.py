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
from earmark.evaluation import learning_curve

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
# Lines are measurements with their intervals, dotted lines the fitted power law.
fig, ax = plt.subplots(figsize=(6, 4))
for name, curve in curves.items():
    (line,) = ax.plot(curve.sizes, curve.mean, label=name)
    color = line.get_color()
    ax.fill_between(curve.sizes, curve.low, curve.high, color=color, alpha=0.2)
    ahead = np.geomspace(curve.sizes[0], curve.horizon, 60)
    law = 1 - curve.law.error(ahead)
    ax.plot(ahead, law, ":", color=color, marker="", linewidth=1)
ax.set(xscale="log", xlabel="Labelled documents", ylabel="Accuracy")
ax.legend()
plt.show()
