"""
Subject and body: a weight per region
=====================================

A message has a short, informative subject and a long body with less information per
word. Naive Bayes treats all words alike: the body drowns the subject, and long
messages make it overconfident. The hybrid model fits one weight per region and divides
the evidence by the length of the region.

"""

# %%
# Messages of two classes. A word in the subject says much, a word in the body little,
# and bodies differ in length.
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
# The model fits two region weights and a bias per class. The evidence of each training
# message is computed as if the message had not been counted.
hybrid = HybridBayes(alpha=[0.1, 1.0]).fit(X[train], y[train], columns=blocks)
print(hybrid.region_table(["subject", "body"]))

# %%
# The error, and the accuracy of the most confident answers.
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
ax.set(xlabel="coverage", ylabel="accuracy", title="most confident answers first")
ax.legend()

# %%
# If the evidence has seen its own document ("plug-in"), the model is overconfident.
rows = np.arange(len(y))[test]
for name in ("leave_one_out", "plug_in"):
    model = HybridBayes(fit_features=name).fit(X[:60], y[:60], columns=blocks)
    log_proba = model.predict_log_proba(X[rows])
    loss = -log_proba[np.arange(len(rows)), y[rows]].mean()
    print(f"{name}: weights {model.region_weight_.round(1)}, test log loss {loss:.3f}")
plt.show()
