"""
Words that never met: paths across documents
============================================

With a handful of labelled documents, most words were seen once or never, and naive
Bayes knows next to nothing. Higher-order naive Bayes counts paths instead: term -
document - term - document - term. A few documents contain very many of them. The data
are the docstrings of the installed Python packages.

"""

# %%
# Docstrings of six packages; labels for 3, 6, 12 and 24 of each.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from earmark import TextClassifier
from earmark.documents import docstring_corpus, labelled_per_class
from earmark.features import WordCounter
from earmark.models import (
    BernoulliNaiveBayes,
    HigherOrderClassifier,
    HigherOrderNaiveBayes,
)
from earmark.statistics.path_counts import second_order_paths

corpus = docstring_corpus()
labels = np.array(corpus.labels)
names, sizes = np.unique(labels, return_counts=True)
chosen = names[np.argsort(-sizes, kind="stable")[:6]]
rows = np.flatnonzero(np.isin(labels, chosen))
texts = np.array(
    [" ".join(parts) for parts in zip(*corpus.texts.values(), strict=True)]
)
texts, labels = texts[rows], labels[rows]
print(f"{len(texts)} docstrings of {', '.join(chosen)}")

# %%
# How many paths are in ten docstrings?
counts = WordCounter(stop_words="english").fit_transform(texts)
per_term, total = second_order_paths(counts[np.flatnonzero(labels == chosen[0])[:10]])
print(f"10 documents, {int((per_term > 0).sum())} linked terms, {total} paths")

# %%
# Accuracy by the number of labels, five draws each.
models = {
    "Bernoulli naive Bayes": BernoulliNaiveBayes(),
    "higher-order naive Bayes": HigherOrderNaiveBayes(),
    "higher-order SVM": HigherOrderClassifier(random_state=0),
    "tf-idf + logistic regression": make_pipeline(
        TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10, max_iter=1000)
    ),
}
shots = (3, 6, 12, 24)
accuracy = {name: [] for name in models}
for n in shots:
    drawn = {name: [] for name in models}
    for seed in range(5):
        known, rest = labelled_per_class(labels, n, random_state=seed)
        seen = np.flatnonzero(np.asarray(counts[known].sum(axis=0)).ravel())
        for name, model in models.items():
            model.fit(counts[known][:, seen], labels[known])
            drawn[name].append(model.score(counts[rest][:, seen], labels[rest]))
    for name, values in drawn.items():
        accuracy[name].append(float(np.mean(values)))

fig, ax = plt.subplots(figsize=(5.5, 3.5))
for name, values in accuracy.items():
    ax.plot(shots, values, marker="o", label=name)
    print(f"{name:>30}", " ".join(f"{v:.3f}" for v in values))
ax.set(xlabel="labelled documents per class", ylabel="accuracy", xticks=shots)
ax.legend(fontsize=8)

# %%
# Why this label? The words with their log-ratios, and the strongest paths from the
# document to the training documents of the class.
known, rest = labelled_per_class(labels, 12, random_state=0)
classifier = TextClassifier("higher-order", features={"stop_words": "english"})
classifier.fit(list(texts[known]), labels[known])
print(classifier.explain([texts[rest[0]]], top=6, paths=3)[0])
plt.show()
