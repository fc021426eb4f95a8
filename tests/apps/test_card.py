"""Model cards: everything in them comes from the model file."""

import csv
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from earmark import TextClassifier
from earmark.apps.card import card_facts, to_html, to_markdown
from earmark.apps.cli.main import app
from earmark.apps.harmless import harmless
from earmark.documents import Documents
from earmark.documents.document import fingerprint

ROWS = [
    ("the cat sat on the mat", "animal"),
    ("a dog chased the cat", "animal"),
    ("the car drove away", "vehicle|fast"),
    ("my truck <b>stopped</b>", "vehicle|fast"),
] * 3


def run(*args):
    return CliRunner().invoke(app, list(map(str, args)), catch_exceptions=False)


@pytest.fixture
def model(tmp_path):
    data = tmp_path / "data.csv"
    with data.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "kind"), *ROWS])
    path = tmp_path / "m.earmark"
    done = run("train", data, "--label", "kind", "--model", "multinomial", "-o", path)
    assert done.exit_code == 0
    return path


def test_a_card_names_labels_data_and_evaluation(model):
    shown = run("card", model).stdout
    facts = card_facts(model)
    expected = fingerprint(Documents(*map(list, zip(*ROWS, strict=True))))
    assert facts["training"]["fingerprint"] == expected
    for part in (
        "# Model card: m.earmark",
        expected,
        facts["info"].fingerprint,
        "data.csv",
    ):
        assert part in shown.replace("\\", "")
    assert "| animal | 6 |" in shown
    assert "each judged by a model without it" in shown
    assert "estimates from the training data" in shown
    assert "multinomial" in shown


def test_check_prints_the_fingerprint_that_the_card_holds(model):
    shown = run("check", model.parent / "data.csv", "--label", "kind").stdout
    assert card_facts(model)["training"]["fingerprint"] in shown


def test_what_comes_from_the_data_cannot_break_the_card(model):
    facts = card_facts(model)
    rows = [x for x in to_markdown(facts).splitlines() if x.startswith("| vehicle")]
    assert rows
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 3
    page = to_html(facts | {"name": "<script>x</script>"})
    assert "<script>" not in page
    assert "&lt;b&gt;" in page or "<b>" not in page


HOSTILE = [
    "``` <img src=x onerror=alert(1)> `",
    "`<b>` | `` <script>x</script> ``",
    "[click](javascript:alert(1)) ![x](http://evil.example/p.png)",
    "<http://evil.example> http://evil.example www.evil.example",
    "*a* _b_ **c** ~~d~~ ~e~ &lt;b&gt; &#60;i&#62; \\* \\",
    "# a",
    "1. a",
    "- a",
    "[a]: http://evil.example",
    "end \\",
    "a\nb\n\n# c\n```\n<b>",
    "<!-- x",
    "---",
    "===",
    "> a",
    "\x1b]0;title\x07 \u202e",
]
_PIECES = ["`", "``", "```", "<b>", "<!--", "|", "\\", "*", "_", "[", "](", ")", "~~"]
_PIECES += ["\n", "&amp;", "http://a.b", "#", "1.", "-", " ", "a", "!", "$", "{", "}"]


def shown_with(facts, text):
    """The parts of a card that is about labels, words, sources of this text."""
    facts = facts | {
        "name": text,
        "classes": [text, "b"],
        "counts": [(text, "1")],
        "rare": [text, text],
        "terms": [(text, f"{text}, {text}")],
        "settings": [("setting class_names", text)],
        "training": {"source": text, "labelled": 1, "unlabelled": 0},
        "evaluation": None,
        "test": {**dict.fromkeys(("accuracy", "low", "high", "macro_f1"), 0.5)}
        | {"n_answers": 2, "source": text},
    }
    return to_markdown(facts, intended_use=text, about={"contact": text})


def check_markdown(facts, text):
    from markdown_it import MarkdownIt

    page = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = page.parse(shown_with(facts, text))
    blocks = {token.type for token in tokens}
    assert not blocks & {"html_block", "code_block", "blockquote_open", "hr"}
    assert "ordered_list_open" not in blocks
    inline = [token for token in tokens if token.type == "inline"]
    kinds = {child.type for token in inline for child in token.children}
    assert kinds <= {"text", "text_special", "code_inline", "softbreak"}
    plain = harmless(" ".join(text.split()))
    cells = ["".join(c.content for c in token.children) for token in inline]
    assert cells.count(plain) >= 6
    code = [c.content for t in inline for c in t.children if c.type == "code_inline"]
    assert all(one.startswith("earmark ") for one in code)
    (fence,) = [token for token in tokens if token.type == "fence"]
    assert fence.content.count("\n") == 3
    headings = [token for token in tokens if token.type == "heading_open"]
    assert len(headings) == 8


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    path = tmp_path_factory.mktemp("card") / "m.earmark"
    texts, labels = zip(*ROWS, strict=True)
    TextClassifier("multinomial").fit(texts, labels).save(path)
    return card_facts(path)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_label_is_markup_in_the_markdown_card(facts, text):
    check_markdown(facts, text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_no_text_of_pieces_of_markup_is_markup_in_the_card(facts, text):
    check_markdown(facts, text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20))
def test_no_text_at_all_is_markup_in_the_card(facts, text):
    check_markdown(facts, text)


def test_bare_addresses_are_no_links_on_a_hub(facts):
    shown = shown_with(facts, "http://evil.example www.evil.example")
    assert "http://" not in shown.replace("load", "").split("```")[0]
    assert "www." not in shown.split("```")[0]


class Loaded(HTMLParser):
    """What a page would load, and whether its tags are closed."""

    def __init__(self):
        super().__init__()
        self.open, self.loads = [], []

    def handle_starttag(self, tag, attrs):
        self.loads += [v for k, v in attrs if k in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone(model, tmp_path):
    out = tmp_path / "card.html"
    use = "Sorting <toys> & more."
    assert run("card", model, "--out", out, "--intended-use", use).exit_code == 0
    page = out.read_text()
    parser = Loaded()
    parser.feed(page)
    assert parser.open == []
    assert parser.loads == []
    assert "Sorting &lt;toys&gt; &amp; more." in page


def test_a_model_made_in_python_says_what_is_not_recorded(tmp_path):
    path = tmp_path / "p.earmark"
    texts, labels = zip(*ROWS, strict=True)
    TextClassifier("multinomial").fit(texts, labels).save(path)
    text = to_markdown(card_facts(path, n_terms=0))
    assert "Not recorded" in text
    assert "No evaluation is stored" in text
    assert "Its accuracy has not been measured." in text


def test_a_promise_is_told_with_its_words(tmp_path):
    path = tmp_path / "p.earmark"
    texts, labels = zip(*ROWS, strict=True)
    classifier = TextClassifier("multinomial", max_error=0.3).fit(texts, labels)
    classifier.save(path)
    facts = card_facts(path)
    assert ("setting max_error", "0.3") in facts["settings"]
    assert classifier.thresholds_[0].words in to_markdown(facts)


def test_several_labels_are_told_apart(tmp_path):
    data = tmp_path / "d.jsonl"
    data.write_text(
        '{"text": "cat", "kind": ["a"]}\n{"text": "cat car", "kind": ["a", "b"]}\n'
        '{"text": "car", "kind": ["b"]}\n{"text": "dog", "kind": []}\n' * 3
    )
    path = tmp_path / "m.earmark"
    args = ("--label", "kind", "--multi-label", "--model", "multinomial", "-o", path)
    assert run("train", data, *args).exit_code == 0
    shown = run("card", path).stdout
    assert "any number of labels" in shown
    assert "stated confidence" not in shown
    assert "| a | 6 |" in shown


def test_fingerprints_add_up_and_see_labels_and_regions():
    texts, labels = ["a", "b", "c"], ["x", None, "y"]
    whole = fingerprint(Documents(texts, labels))
    parts = (Documents(texts[:1], labels[:1]), Documents(texts[1:], labels[1:]))
    total = sum(int(fingerprint(part), 16) for part in parts) % 2**256
    assert int(whole, 16) == total
    assert whole != fingerprint(Documents(texts, ["x", "y", "y"]))
    assert whole != fingerprint(Documents(texts))
    one = Documents({"title": ["ab"], "body": ["c"]})
    assert fingerprint(one) != fingerprint(Documents({"title": ["a"], "body": ["bc"]}))


def test_figures_of_a_test_file_are_on_the_card_and_for_hubs(model, tmp_path):
    import yaml

    data = tmp_path / "test.csv"
    with data.open("w", newline="") as file:
        wrong = ("the cat sat", "vehicle|fast")
        csv.writer(file).writerows([("text", "kind"), *ROWS[:3], wrong])
    shown = run("card", model, "--test", data, "--hub").stdout
    assert "75.0 % of the answers were right (95 % interval" in shown
    assert "on 4 test documents of" in shown
    _, front, _ = shown.split("---\n", 2)
    (metric,) = yaml.safe_load(front)["model-index"][0]["results"][0]["metrics"]
    assert metric["value"] == 0.75
    assert metric["name"] == "accuracy on test documents"


def test_a_missing_model_is_named(tmp_path):
    done = CliRunner().invoke(app, ["card", str(tmp_path / "none.earmark")])
    assert "no such model file" in str(done.exception)


def test_hubs_find_their_front_matter_and_people_date_licence_and_contact(model):
    import yaml

    said = (
        "--license",
        "cc-by-4.0",
        "--date",
        "2026-11-16",
        "--contact",
        "ann <a@b.c>",
    )
    shown = run("card", model, "--hub", *said).stdout
    _, front, rest = shown.split("---\n", 2)
    facts = yaml.safe_load(front)
    assert facts["license"] == "cc-by-4.0"
    assert facts["pipeline_tag"] == "text-classification"
    (metric,) = facts["model-index"][0]["results"][0]["metrics"]
    stored = card_facts(model)["evaluation"]["accuracy"]
    assert metric["value"] == pytest.approx(stored, abs=1e-4)
    assert "| date | 2026-11-16 |" in rest
    assert "ann \\<a@b.c\\>" in rest
    assert not run("card", model).stdout.startswith("---")
