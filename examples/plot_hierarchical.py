"""
Sub-topics inside a class: hierarchical Bayes
=============================================

Naive Bayes describes a class by one list of word probabilities. But a class such as
"sport" contains football and cricket, which use different words. Hierarchical Bayes
gives every class a few hidden nodes and finds them by EM. The decision is then not
linear, and you can read the nodes.

"""

# %%
# No linear classifier can learn the XOR function, here scaled and shifted. Two hidden
# nodes per class can.
import matplotlib.pyplot as plt
import numpy as np

from earmark.documents import docstring_corpus
from earmark.features import WordCounter
from earmark.models import HierarchicalBayes, MultinomialNaiveBayes

X = np.array([[1.0, 1.0], [5.0, 5.0], [1.0, 5.0], [5.0, 1.0]])
y = np.array([0, 0, 1, 1])
models = {
    "naive Bayes": MultinomialNaiveBayes(),
    "multinomial nodes": HierarchicalBayes(random_state=0),
    "Gaussian nodes": HierarchicalBayes(event_model="gaussian", random_state=0),
}
step = np.linspace(0.05, 7, 120)
grid = np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    answer = model.fit(X, y).predict(grid).reshape(len(step), -1)
    ax.contourf(step, step, answer, levels=[-0.5, 0.5, 1.5], colors=["white", "0.8"])
    ax.scatter(*X[y == 0].T, s=60, facecolor="white", edgecolor="black")
    ax.scatter(*X[y == 1].T, s=60, color="black")
    ax.set(title=name, aspect="equal")

# %%
# Documents with known sub-topics: docstrings of several packages, combined into two
# classes. Hierarchical Bayes sees only the two classes.
members = {
    "numbers": ["scipy.stats", "scipy.optimize", "scipy.signal"],
    "network and text": ["asyncio", "email", "jinja2"],
}
corpus = docstring_corpus()
package = np.asarray(corpus.labels)
texts = np.asarray(corpus.texts["text"], dtype=object)
label = np.full(len(package), "", dtype=object)
for name, packages in members.items():
    label[np.isin(package, packages)] = name
known = np.flatnonzero(label != "")
package, texts, label = package[known], texts[known], label[known].astype(str)

counter = WordCounter(min_df=3, stop_words="english")
X = counter.fit_transform(texts)
train = np.random.default_rng(0).random(len(label)) < 0.5
# To read the nodes, let EM run on: little smoothing, many iterations, and of the 50
# starts of a class only the five likeliest after five iterations.
model = HierarchicalBayes(
    n_hidden=3, alpha=0.1, max_iter=50, drop_after=5, keep=0.1, random_state=0
).fit(X[train], label[train])
naive = MultinomialNaiveBayes(alpha=0.3).fit(X[train], label[train])
print(f"naive Bayes         {naive.score(X[~train], label[~train]):.3f}")
print(f"hierarchical Bayes  {model.score(X[~train], label[~train]):.3f}")

# %%
# The words of the hidden nodes.
nodes = model.describe(counter.get_feature_names_out(), top=8)
print(nodes)
nodes.plot()

# %%
# The number of training documents per package and node. The labels do not name the
# packages, yet most documents of each package are in a node of their own.
share = model.responsibilities_.argmax(axis=1)
for name, packages in members.items():
    print(name)
    for p in packages:
        mine = package[train] == p
        print(f"  {p:16}", np.bincount(share[mine], minlength=3))
plt.show()
