"""
Subject against body: how much is a word worth where it stands?
===============================================================

A message has a telling subject of a few words and a long body that says less a
word. Naive Bayes adds up all words alike, so the body drowns the subject, and the
longer the message the surer it is. The hybrid fits one weight a region and divides
by the region's length.

"""

# %%
# Messages of two classes: each word of a subject says much, each word of a body
# little, and bodies differ in length.
import matplotlib.pyplot as plt
import numpy as np

from earmark.evaluation import accuracy_coverage
from earmark.models import HybridBayes, MultinomialNaiveBayes

rng = np.random.default_rng(0)
n_words = 300
common = 1 / np.arange(1, n_words + 1)
signs = rng.normal(size=(2, n_words))


def region(y, tilt, lengths):
    """Counts of words drawn from two distributions that differ by ``tilt``."""
    p = common * np.exp(tilt * signs)
    p /= p.sum(axis=1, keepdims=True)
    return np.array([rng.multinomial(n, p[c]) for n, c in zip(lengths, y, strict=True)])


y = rng.integers(0, 2, 2400)
subject = region(y, 0.7, rng.integers(2, 7, len(y)))
body = region(y, 0.12, rng.geometric(1 / 80, len(y)))
# Quoting repeats words, which naive Bayes takes for new evidence.
body[rng.random(len(y)) < 0.3] *= 5
X = np.hstack([subject, body])
blocks = np.repeat([0, 1], n_words)
train, test = slice(0, 400), slice(400, None)

# %%
# Two region weights and a bias a class are fitted, each training message with the
# evidence it would have had if it had not been counted.
hybrid = HybridBayes(alpha=[0.1, 1.0]).fit(X[train], y[train], blocks=blocks)
print(hybrid.region_table(["subject", "body"]))

# %%
# Errors, and accuracy among the most confident answers.
naive = MultinomialNaiveBayes().fit(X[train], y[train])
models = {"naive Bayes": naive, "hybrid": hybrid}
fig, ax = plt.subplots(figsize=(5, 3.5))
for name, model in models.items():
    proba = model.predict_proba(X[test])
    answers = model.classes_[proba.argmax(axis=1)]
    curve = accuracy_coverage(y[test], answers, proba.max(axis=1))
    error = 1 - curve.accuracy[-1]
    print(f"{name}: error {error:.3f}, area under the curve {curve.area:.3f}")
    shown = curve.coverage > 0.02
    ax.plot(curve.coverage[shown], curve.accuracy[shown], marker="", label=name)
ax.set(xlabel="coverage", ylabel="accuracy", title="the surest answers first")
ax.legend()

# %%
# Weights fitted on evidence that has seen its own document ("plug-in") believe
# the training set's luck: the same model, much surer, and wrong about it.
rows = np.arange(len(y))[test]
for name in ("leave_one_out", "plug_in"):
    model = HybridBayes(fit_features=name).fit(X[:60], y[:60], blocks=blocks)
    log_proba = model.predict_log_proba(X[rows])
    loss = -log_proba[np.arange(len(rows)), y[rows]].mean()
    print(f"{name}: weights {model.region_weight_.round(1)}, test log loss {loss:.3f}")
plt.show()
