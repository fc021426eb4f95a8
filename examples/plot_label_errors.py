"""
Find wrong labels
=================

People mislabel documents, and a few per cent of wrong labels spoil both training and
testing. Leave-one-out posteriors tell which labels all other documents contradict;
for the count models they are exact and cost one pass over the data.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier
from earmark.documents import docstring_corpus
from earmark.evaluation import suspected_label_errors

corpus = docstring_corpus()
texts, true = corpus.joined(), np.array(corpus.labels)
names = np.unique(true)

# %%
# Spoil 5 % of the labels on purpose.
rng = np.random.default_rng(0)
spoiled = rng.choice(len(true), len(true) // 20, replace=False)
given = true.copy()
given[spoiled] = rng.choice(names, len(spoiled))
wrong = given != true
print(f"{wrong.sum()} of {len(true)} labels are wrong")

# %%
# Fit once, then ask for the posterior of every document as if it had not been
# trained on.
model = TextClassifier("multinomial").fit(texts, given)
left_out = model.leave_one_out(texts, given)
suspects = suspected_label_errors(given, left_out, model.classes_, texts=texts)
for one in suspects[:5]:
    truth = true[one.index]
    print(f"given {one.given}, suggested {one.suggested}, was {truth}")

# %%
# Whoever reads the list from the top finds most wrong labels early.
order = np.array([one.index for one in suspects])
found = np.cumsum(wrong[order])
share = found / wrong.sum()
read = np.arange(1, len(order) + 1)
fig, ax = plt.subplots(figsize=(5.5, 3.5))
ax.plot(read, share, label="by leave-one-out margin")
ax.plot([0, len(true)], [0, 1], "--", color="0.5", label="at random")
ax.set(xlim=(0, 1500), xlabel="documents read again", ylabel="wrong labels found")
ax.legend()
fig.tight_layout()
half = int(read[np.searchsorted(share, 0.5)])
print(f"half of the wrong labels are among the first {half}")

# %%
# The same from a shell: ``earmark check mails.csv --label topic``.
plt.show()
