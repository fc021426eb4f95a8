"""
Gradient descent, and when naive Bayes is better
================================================

A step of gradient descent can use one document, a few, or all of them. And a model that
fits its weights needs more documents than naive Bayes, but gets further with them. This
example shows both.

"""

# %%
# Two classes in the plane. With one point per step, the path is erratic. With all 200
# points per step it goes straight downhill, but each step is expensive. Sixteen points
# per step are nearly as good.
import matplotlib.pyplot as plt
import numpy as np

from earmark.models import BernoulliNaiveBayes, SoftmaxRegression

rng = np.random.default_rng(0)
y = np.arange(200) % 2
X = np.array([[0.6, -0.4], [-0.6, 0.4]])[y] + rng.normal(size=(200, 2)) * [1.2, 0.6]


def path(batch_size, n_steps=40):
    """The weights after each step of plain descent."""
    model = SoftmaxRegression(
        solver="plain", eta=0.5, batch_size=batch_size, fit_intercept=False
    )
    steps = (model.set_params(n_batches=n).fit(X, y) for n in range(1, n_steps + 1))
    return np.array([[0.0, 0.0], *(m.coef_[0].copy() for m in steps)])


exact = SoftmaxRegression(solver="dual", C=10.0, fit_intercept=False).fit(X, y)
fig, axes = plt.subplots(1, 3, figsize=(9, 3), sharex=True, sharey=True)
for ax, batch_size in zip(axes, (1, 16, 200), strict=True):
    ax.plot(*path(batch_size).T, marker=".", color="C0", linewidth=0.8)
    ax.plot(*exact.coef_[0], marker="*", color="C1", markersize=12, clip_on=False)
    ax.set(title=f"batches of {batch_size}", xlabel="first weight")
axes[0].set(ylabel="second weight")

# %%
# Documents of 300 terms. Terms occur in groups of ten. Naive Bayes counts such a group
# as ten pieces of evidence, while fitted weights share it.
n_bunches, size = 30, 10
lean = rng.normal(0, 0.5, n_bunches)


def documents(n):
    """Indicators of terms; a bunch is there or not, some of its terms are lost."""
    classes = np.arange(n) % 2
    odds = -1.0 + np.where(classes[:, None] == 1, lean, -lean)
    bunch = rng.random((n, n_bunches)) < 1 / (1 + np.exp(-odds))
    terms = np.repeat(bunch, sizes_of_bunches, axis=1)
    return (terms & (rng.random(terms.shape) < 0.8)).astype(float), classes


# Bunches differ in size, so that naive Bayes counts some far more often than others.
sizes_of_bunches = rng.integers(1, 2 * size, n_bunches)
test, expected = documents(4000)
sizes = (10, 30, 100, 300, 1000, 3000)
curves = {"Bernoulli naive Bayes": [], "softmax regression": []}
for n in sizes:
    made = [documents(n) for _ in range(5)]
    for name, model in (
        ("Bernoulli naive Bayes", BernoulliNaiveBayes()),
        ("softmax regression", SoftmaxRegression()),
    ):
        found = [model.fit(*train).score(test, expected) for train in made]
        curves[name].append(np.mean(found))

fig, ax = plt.subplots(figsize=(5, 3.3))
for name, found in curves.items():
    ax.plot(sizes, found, marker="o", label=name)
    print(name, " ".join(f"{accuracy:.3f}" for accuracy in found))
ax.set(xscale="log", xlabel="training documents", ylabel="test accuracy")
ax.legend()
