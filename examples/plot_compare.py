"""
Is it really better?
====================

Two accuracies can differ by chance. ``compare_classifiers`` trains every classifier
on the same splits, gives intervals, and tests every pair with a correction for the
number of pairs. It tells you when there is no evidence of a difference.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from earmark import TextClassifier
from earmark.documents import docstring_corpus
from earmark.evaluation import compare_classifiers

corpus = docstring_corpus()
rows = np.random.default_rng(0).permutation(len(corpus))[:2000]
corpus = corpus.take(rows.tolist())

# %%
# Any estimator with ``fit`` and ``predict`` can take part.
contenders = {
    "multinomial": TextClassifier("multinomial"),
    "complement": TextClassifier("complement"),
    "rocchio": TextClassifier("rocchio"),
    "linear": TextClassifier("linear"),
    "softmax": TextClassifier("softmax"),
    "scikit-learn": make_pipeline(CountVectorizer(), MultinomialNB()),
}
found = compare_classifiers(contenders, corpus.joined(), corpus.labels, n_repeats=5)
print(found)

# %%
# Accuracy with its interval, and the time it took.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
names = [one.name for one in found.classifiers]
place = np.arange(len(names))[::-1]
for y, one in zip(place, found.classifiers, strict=True):
    left.plot([one.low, one.high], [y, y], color="C0", lw=3, alpha=0.5)
    left.plot(one.accuracy, y, "o", color="C0")
    right.barh(y, one.fit_seconds + one.predict_seconds, color="C1")
left.set(yticks=place, yticklabels=names, xlabel="accuracy, 95 % interval")
right.set(xlabel="CPU seconds, fit and predict")
plt.show()
