"""
Stems, stop words and term selection
====================================

Do stems help? Should you keep fewer terms? You can find out on your own documents in a
minute. Change one thing at a time, and use the same splits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from earmark import TextClassifier
from earmark.documents import docstring_corpus
from earmark.evaluation import compare_classifiers
from earmark.features import TermSelector, WordCounter
from earmark.models import BernoulliNaiveBayes, MultinomialNaiveBayes

corpus = docstring_corpus()
rows = np.random.default_rng(0).permutation(len(corpus))[:1800]
corpus = corpus.take(rows.tolist())
texts, labels = corpus.joined(), np.array(corpus.labels)

# %%
# The same model with the text prepared in four ways. Stemming needs the extra
# ``earmark[stem]``.
ways = {
    "words": None,
    "stems": {"stemmer": "english"},
    "no stop words": {"stop_words": "english"},
    "numbers as one": {"substitutions": ("number",)},
    "word pairs": {"ngram_range": (1, 2)},
}
found = compare_classifiers(
    {name: TextClassifier("complement", features=way) for name, way in ways.items()},
    texts,
    labels,
    n_repeats=4,
)
print(found)

# %%
# The best k terms by information gain. The selection is part of the pipeline, so it
# uses the training documents only.
half = len(texts) // 2
sizes = [50, 150, 500, 1500, 5000]
models = {
    "multinomial": MultinomialNaiveBayes(alpha=0.1),
    "Bernoulli": BernoulliNaiveBayes(alpha=0.1),
}
fig, ax = plt.subplots(figsize=(6, 3.8))
for name, model in models.items():
    for score, style in (("information_gain", "o-"), ("chi2", "s--"), ("df", "^:")):
        right = []
        for k in sizes:
            pipe = make_pipeline(WordCounter(), TermSelector(score, k=k), model)
            right.append(
                pipe.fit(texts[:half], labels[:half]).score(texts[half:], labels[half:])
            )
        color = "C0" if name == "multinomial" else "C1"
        ax.semilogx(sizes, right, style, color=color, label=f"{name}, {score}")
        print(f"{name:>12} {score:<17}", " ".join(f"{r:.3f}" for r in right))
ax.set(xlabel="terms kept", ylabel="accuracy")
ax.legend(fontsize=8)
plt.show()
