"""``earmark forget``: take documents out of a saved model, exactly."""

from __future__ import annotations

from earmark.apps.cli import _options as options
from earmark.apps.cli.update import AnswerAll, Out, change

__all__ = ["HELP", "NAME", "run"]

NAME = "forget"
HELP = """Take documents out of a saved model, exactly.

For multinomial, bernoulli and complement: the model is then the one that training
without them gives. DATA holds the documents with their labels, as they were
learned. The file keeps a record of time, number and a salted hash, and no text;
`earmark info MODEL` shows it.

  earmark forget model.earmark leave.csv
"""


def run(
    model: options.Model,
    data: options.Data,
    label: options.LabelColumn = None,
    text: options.TextColumns = None,
    out: Out = None,
    answer_all: AnswerAll = False,
    encoding: options.Encoding = None,
    format: options.Format = None,  # noqa: A002
    no_quotes: options.NoQuotes = False,
    merge_labels: options.MergeLabels = False,
    as_json: options.AsJson = False,
) -> None:
    """Take documents out of a saved model, exactly."""
    how = options.reading(encoding, format, no_quotes)
    columns = (text, label, merge_labels)
    change("forget", model, data, columns, out, answer_all, how, as_json)
