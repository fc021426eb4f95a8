"""
Rocchio and nearest neighbors
==============================

These models compare documents by similarity. Rocchio keeps one prototype per class.
Nearest neighbors keeps every document and lets the most similar ones vote. The data
are the docstrings of the installed Python packages.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark.decision import rank
from earmark.documents import docstring_corpus, stratified_split
from earmark.features import TfidfWeighting, WordCounter
from earmark.models import NeighborsClassifier, RocchioClassifier

# %%
# Documents become unit vectors: counts, weighted by tf-idf.

documents = docstring_corpus()
rng = np.random.default_rng(0)
documents = documents.take(rng.permutation(len(documents))[:3000].tolist())
halves = stratified_split(documents.labels, 0.5, random_state=0)
train, test = (documents.take(half.tolist()) for half in halves)
counter, weighting = WordCounter(), TfidfWeighting()
X = weighting.fit_transform(counter.fit_transform(train.joined()))
X_test = weighting.transform(counter.transform(test.joined()))
y, y_test = np.array(train.labels), np.array(test.labels)

# %%
# Rocchio with distance and with cosine, and neighbors with k chosen by leave-one-out.

models = {
    "Rocchio, Euclidean": RocchioClassifier(),
    "Rocchio, cosine": RocchioClassifier(metric="cosine"),
    "neighbors": NeighborsClassifier("auto", random_state=0),
}
for name, model in models.items():
    right = np.mean(model.fit(X, y).predict(X_test) == y_test)
    print(f"{name:<20} {right:.3f}")

# %%
# The neighbors themselves explain an answer.

nearest = models["neighbors"]
for neighbor in nearest.neighbors(X_test[:1])[0][:3]:
    print(neighbor.label, round(neighbor.similarity, 2))

# %%
# Ranking: documents sorted by their score for a class, without a decision.

label = nearest.classes_[0]
best = rank(models["Rocchio, cosine"], X_test, label, top=20)
print(label, np.mean(y_test[best.positions] == label))

# %%
# You can remove documents exactly, and tune the model again on the rest.

rocchio = models["Rocchio, cosine"].forget(X[:10], y[:10]).tune(X[10:], y[10:])
again = RocchioClassifier(metric="cosine").fit(X[10:], y[10:])
print(np.array_equal(rocchio.predict_proba(X_test), again.predict_proba(X_test)))

# %%
# Accuracy on the test documents by the number of neighbors.

sizes = [1, 2, 3, 5, 8, 13, 21, 34, 55]
accuracy = [
    np.mean(NeighborsClassifier(k, random_state=0).fit(X, y).predict(X_test) == y_test)
    for k in sizes
]
figure, axis = plt.subplots()
axis.semilogx(sizes, accuracy, "o-")
axis.axvline(nearest.n_neighbors_, ls="--", color="0.5", label="by leave-one-out")
axis.set(xlabel="neighbors", ylabel="accuracy")
axis.legend()
plt.show()
