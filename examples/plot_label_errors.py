"""
Find wrong labels
=================

People mislabel documents, and a few per cent of wrong labels harm both training and
testing. A model that was trained without a document predicts its label. A second model
turns the prediction into the probability that the given label is wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus
from earmark.evaluation import left_out_log_proba, suspected_label_errors

corpus = docstring_corpus()
texts, true = corpus.joined(), np.array(corpus.labels)
names = np.unique(true)

# %%
# Change 5 % of the labels on purpose.
rng = np.random.default_rng(0)
spoiled = rng.choice(len(true), len(true) // 20, replace=False)
given = true.copy()
given[spoiled] = rng.choice(names, len(spoiled))
wrong = given != true
print(f"{wrong.sum()} of {len(true)} labels are wrong")

# %%
# Get the posterior of every document under a model without it. For count models this is
# exact and takes one pass over the data.
classes, left_out = left_out_log_proba(TextClassifier("hybrid"), texts, given)
suspects = suspected_label_errors(given, left_out, classes, texts=texts)
print(suspects)
for one in suspects[:5]:
    truth = true[one.index]
    print(
        f"{one.probability:.0%} wrong: given {one.given}, suggested {one.suggested}, "
        f"was {truth}"
    )

# %%
# The list contains the labels that are more probably wrong than right.
listed = np.array([one.index for one in suspects])
print(f"{wrong[listed].mean():.0%} of the listed labels were spoiled,")
print(f"{wrong[listed].sum() / wrong.sum():.0%} of the spoiled labels are listed")

# %%
# The probabilities are calibrated: of the labels that are wrong with probability 0.8,
# about 80 % are wrong.
edges = np.linspace(0, 1, 6)
place = np.digitize(suspects.probability, edges[1:-1])
said = [suspects.probability[place == i].mean() for i in range(5)]
were = [wrong[place == i].mean() for i in range(5)]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
left.plot([0, 1], [0, 1], "--", color="0.5")
left.plot(said, were, "o-")
left.set(xlabel="probability that the label is wrong", ylabel="share that is wrong")

order = np.argsort(-suspects.probability, kind="stable")
right.plot(np.cumsum(wrong[order]) / wrong.sum(), marker="", label="by probability")
right.plot([0, len(true)], [0, 1], "--", color="0.5", label="at random")
right.axvline(len(suspects), color="0.7", linewidth=1, label="end of the list")
right.set(xlim=(0, 1500), xlabel="documents read again", ylabel="wrong labels seen")
right.legend()

# %%
# On the command line: ``earmark check mails.csv --label topic``.
plt.show()
