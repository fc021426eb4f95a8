"""
Quick start: train, evaluate, explain, save
===========================================

earmark on one page: train, measure the accuracy, ask why, save. The texts are the
docstrings of the installed Python packages, and the label is the package.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay

import earmark
from earmark import TextClassifier
from earmark.documents import docstring_corpus, stratified_split

corpus = docstring_corpus()
train, test = stratified_split(corpus.labels, 0.3, random_state=0)
known, unseen = corpus.take(train), corpus.take(test)

# %%
# Train. With ``model="auto"``, a few fast models are compared by cross-validation.
# ``summary`` says which one was chosen.
classifier = TextClassifier(random_state=0).fit(known.joined(), known.labels)
print(classifier.summary())

# %%
# How accurate is it on documents that it has not seen?
report = classifier.report(unseen.joined(), unseen.labels)
print("\n".join(str(report).splitlines()[:12]))

# %%
# Why? The contributions of the words add up to the score.
print(classifier.explain(["Compute the eigenvalues of a matrix."], top=5)[0])

# %%
# The model file contains no code. A loaded model gives the same answers.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "docstrings.earmark"
    classifier.save(path)
    again = earmark.load(path)
    print(f"{path.stat().st_size / 1e6:.1f} MB,", again.predict(["an HTTP cookie"]))

# %%
# The confusion matrix: which classes are mistaken for which?
answers = classifier.predict(unseen.joined())
fig, ax = plt.subplots(figsize=(8, 7))
style = {"cmap": "Blues", "colorbar": False, "xticks_rotation": "vertical"}
ConfusionMatrixDisplay.from_predictions(unseen.labels, answers, ax=ax, **style)
ax.grid(visible=False)
plt.show()
