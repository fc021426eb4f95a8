"""
Which words decided?
====================

An answer without a reason is hard to trust and hard to correct. Every model that
scores words can split its score into contributions. They add up exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus

corpus = docstring_corpus()
chosen = ("email", "http", "scipy.signal", "scipy.stats", "unittest")
rows = [i for i, label in enumerate(corpus.labels) if label in chosen]
corpus = corpus.take(rows)
classifier = TextClassifier("multinomial").fit(corpus.joined(), corpus.labels)

text = "Send the response header, then check the distribution of the waiting times."
(why,) = classifier.explain([text])
print(why)

# %%
# The words and the prior add up to the score.
total = sum(t.contribution for t in why.terms) + sum(why.constants.values())
print(f"sum of the parts {total:.12f}, score {why.score:.12f}")

# %%
# The same as a figure. Bars to the right support the label, bars to the left the
# second-best label.
terms = sorted(why.terms, key=lambda t: t.contribution)
terms = [t for t in terms if abs(t.contribution) > 0.05]
values = np.array([t.contribution for t in terms])
fig, ax = plt.subplots(figsize=(7, 0.3 * len(terms) + 1.2))
ax.barh([t.term for t in terms], values, color=np.where(values > 0, "C0", "C1"))
ax.axvline(0, color="0.3", lw=0.8)
ax.set(xlabel=f"log-odds: {why.runner_up}  ←  →  {why.label}")

# %%
# The most indicative words of a class. Look at them before you use a model: words that
# do not belong there point to a leak.
for label, words in classifier.telling_terms(top=6).items():
    print(f"{label:>14}: {', '.join(word for word, _ in words)}")
plt.show()
