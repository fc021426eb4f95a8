"""A simulated person labels: what the picks are worth, how honest the estimate is.

The person's answers are the corpus' own labels. Of 3,000 documents drawn in each run
1,000 are never asked about: the accuracy is measured on them. Both arms keep the same
random share of their questions apart for the estimate, and learn from the rest; they
differ in how the documents to learn from are picked.
"""

from earmark.reproductions.labelling._run import reproduce, show

__all__ = ["reproduce", "show"]
