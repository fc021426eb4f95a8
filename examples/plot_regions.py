"""
E-mail: subject and body
========================

Words mean different things in different places. With ``regions``, each part of a
document has its own words, and the hybrid model learns from the labels how much each
part counts.
"""

import matplotlib.pyplot as plt
import numpy as np

from earmark import TextClassifier

# %%
# Generated e-mails to a help desk. Subjects are short and informative. Bodies are long,
# say less per word, and quote the answer of another department.
rng = np.random.default_rng(0)
words = {
    "printer": ["paper", "toner", "jam", "printer", "tray", "ink"],
    "account": ["password", "login", "locked", "account", "reset", "user"],
    "network": ["cable", "wifi", "network", "slow", "connection", "router"],
}
small_talk = [
    "hello",
    "please",
    "thanks",
    "you",
    "today",
    "again",
    "since",
    "the",
    "we",
]


def mail(topic):
    """One raw mail with a header, a body and a quotation from anybody's mail."""
    other = rng.choice(list(words))
    telling = words[topic if rng.random() < 0.85 else other]
    subject = " ".join([*rng.choice(telling, 1), *rng.choice(small_talk, 2)])
    body = [*rng.choice(words[topic], 2), *rng.choice(small_talk, rng.integers(5, 40))]
    quoted = rng.choice([*words[other], *small_talk], rng.integers(0, 25))
    rng.shuffle(body)
    return (
        f"From: someone@example.org\nSubject: {subject}\n\n{' '.join(body)}\n"
        f"{' '.join(quoted)}\n"
    )


topics = rng.choice(list(words), 600)
mails = [mail(topic) for topic in topics]
print(mails[0])

# %%
# ``regions="email"`` splits subject and body and ignores other headers. The table shows
# how many independent words a region is worth, and how much each of its words counts.
train, test = slice(0, 60), slice(60, None)
hybrid = TextClassifier("hybrid", regions="email").fit(mails[train], topics[train])
print(hybrid.summary())

# %%
# Explanations name the region.
print(hybrid.explain(mails[60:61], top=6)[0])

# %%
# Comparison with the same model without regions, and with naive Bayes.
models = {
    "hybrid, subject and body": TextClassifier("hybrid", regions="email"),
    "hybrid, one region": TextClassifier("hybrid"),
    "naive Bayes": TextClassifier("multinomial"),
}
sizes = (12, 24, 48, 96)
fig, ax = plt.subplots(figsize=(5.5, 3.5))
for name, model in models.items():
    right = [
        np.mean(model.fit(mails[:n], topics[:n]).predict(mails[96:]) == topics[96:])
        for n in sizes
    ]
    ax.plot(sizes, right, "o-", label=name)
    print(f"{name:>25}", " ".join(f"{r:.3f}" for r in right))
ax.set(xlabel="labelled mails", ylabel="accuracy", xticks=sizes)
ax.legend()
plt.show()
