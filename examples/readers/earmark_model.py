"""Read a model that ``earmark export`` wrote, and answer: Python, nothing else."""

import base64
import json
import math
import re
from array import array

WORD = re.compile(r"\w+")
WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


def terms_of(text, block):
    """All terms of a text, one for each time it occurs."""
    low, high = block["ngram_range"]
    text = text.lower() if block["lowercase"] else text
    if block["analyzer"] == "char":
        text = re.sub(r"\s\s+", " ", text)
        return [
            text[k : k + n]
            for n in range(low, min(high, len(text)) + 1)
            for k in range(len(text) - n + 1)
        ]
    if block["analyzer"] == "char_wb":
        terms = []
        for word in text.split():
            padded = f" {word} "
            for n in range(low, high + 1):
                last = max(len(padded) - n, 0)
                terms += [padded[k : k + n] for k in range(last + 1)]
                if last == 0:
                    break
        return terms
    pattern = WORD if block["analyzer"] == "word" else WORD_OR_MARK
    words = [w for w in pattern.findall(text) if len(w) >= block["min_length"]]
    words = [w for w in words if w not in block["stop_words"]]
    return [
        " ".join(words[k : k + n])
        for n in range(low, high + 1)
        for k in range(len(words) - n + 1)
    ]


TF = {
    "raw": float,
    "binary": lambda n: 1.0,
    "sublinear": lambda n: 1 + math.log(n),
    "logarithm": lambda n: 1 + math.log10(n),
}


def term_scores(text, block):
    """What the terms add to the score of each class; how many terms are known."""
    counts, n_unknown = {}, 0
    for term in terms_of(text, block):
        column = block["columns"].get(term)
        if column is None:
            n_unknown += 1
        else:
            counts[column] = counts.get(column, 0) + 1
    row = {c: TF[block["tf"]](n) for c, n in counts.items()}
    if block["idf"] is not None:
        row = {c: x * block["idf"][c] for c, x in row.items()}
    length = 1.0
    if block["norm"] == "l1":
        length = sum(row.values())
    elif block["norm"] == "l2":
        squares = sum(x * x for x in row.values())
        length = math.sqrt(squares + block["unknown"] * n_unknown)
    scores = [0.0] * len(block["weights"][0])
    for c, x in row.items():
        for k, weight in enumerate(block["weights"][c]):
            scores[k] += x / length * weight
    return scores, sum(counts.values())


def lines_of(text, block):
    """The lines of the table that spell a text."""
    places = []
    for token in WORD_OR_MARK.findall(text.lower()):
        if token in block["words"]:
            places.append(block["words"][token])
            continue
        at = 0
        while at < len(token):
            for end in range(len(token), at, -1):
                line = block["pieces"].get(("##" if at else "") + token[at:end])
                if line is not None:
                    places.append(line)
                    at = end
                    break
            else:
                at += 1
    return places


def vector_scores(text, block):
    """What the vector of a text adds to the score of each class."""
    width = len(block["mean"])
    total = [0.0] * width
    for line in lines_of(text, block):
        start, scale = line * width, block["scale"][line]
        for d in range(width):
            total[d] += scale * block["table"][start + d]
    length = math.sqrt(sum(x * x for x in total))
    scores = [0.0] * len(block["weights"][0])
    if length:
        for x, mean, weights in zip(total, block["mean"], block["weights"]):
            for k, weight in enumerate(weights):
                scores[k] += (x / length - mean) * weight
    return scores


class Model:
    """A model of one label per document."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.model = json.load(file)
        assert self.model["format"] == "earmark-json" and self.model["version"] == 1
        for block in self.model["blocks"]:
            if block["kind"] == "terms":
                block["stop_words"] = set(block["stop_words"])
                block["columns"] = {t: c for c, t in enumerate(block["terms"])}
            else:
                lines = list(enumerate(block["lines"]))
                block["words"] = {w: k for k, w in lines[: block["n_words"]]}
                block["pieces"] = {w: k for k, w in lines[block["n_words"] :]}
                block["table"] = array("b", base64.b64decode(block["vectors"]))

    def scores(self, document):
        """A score for each class; a document is a text, or a dict of its regions."""
        regions = self.model["regions"]
        texts = {regions[0]: document} if isinstance(document, str) else document
        joined = "\n".join(texts.get(name, "") for name in regions)
        total, n_known = list(self.model["offset"]), 0
        for block in self.model["blocks"]:
            name = block["region"]
            text = joined if name is None else texts.get(name, "")
            if block["kind"] == "vectors":
                part = vector_scores(text, block)
            else:
                part, known = term_scores(text, block)
                n_known += known
            total = [a + b for a, b in zip(total, part)]
        if self.model["empty"] is not None and n_known == 0:
            total = self.model["empty"]
        return total

    def probabilities(self, document):
        """The probability of each class, in the order of ``model["classes"]``."""
        scores = [s / self.model["temperature"] for s in self.scores(document)]
        powers = [math.exp(s - max(scores)) for s in scores]
        return [power / sum(powers) for power in powers]

    def predict(self, document):
        """The likeliest label."""
        scores = self.scores(document)
        return self.model["classes"][scores.index(max(scores))]


if __name__ == "__main__":
    import sys

    model = Model(sys.argv[1])
    for line in sys.stdin:  # documents as JSON, one on each line
        document = json.loads(line)
        answer = {"label": model.predict(document), "scores": model.scores(document)}
        print(json.dumps(answer))
