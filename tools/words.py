"""Check the wording of the repository against the house style.

    python tools/words.py [PATH ...]

Reads documents and Python sources, prints every line that uses a phrase, a former
name, a British spelling or a variable name of the lists below, with what to write
instead, and ends with status 1 if there is any. The style itself is in CONTRIBUTING.md.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_THINGS = (
    "labels|documents|words|texts|one|times|page|file|line|column|row|threshold|"
    "model|process|thread|pass|entry|vector|bytes|one label"
)
_EACH = "class|document|second|minute|method|label|file|part|page|line|model|word"

# What to avoid, as a regular expression, and what to write instead.
PHRASES: dict[str, str] = {
    rf"\b({_THINGS}) a ({_EACH})\b(?! has)": '"per", as in "labels per class"',
    r"[\d}] an? (class|document|second)\b": '"per", as in "500 per class"',
    r"\bhow right\b": "accuracy",
    r"\bwhatever is random\b": "random seed",
    r"\bbrings none\b": "does not include one",
    r"\bfitted anew\b": "retrained",
    r"\bwhole or not at all\b": "atomically",
    r"\b(taken|takes?) for what\b": "confusion matrix",
    r"\bin vain\b": "without effect",
    r"\bof no account\b": "not used",
    r"\bno business of\b": "not the concern of",
    r"\bgone on with\b": "continued",
    r"\bfrom \d[\d,]* on\b": '"at least N"',
    r"\bworth while\b": "worthwhile",
    r"\bfor ever\b": "forever",
    r"\b(is|are) no valid\b": '"is not valid"',
    r"\bnothing to tell apart\b": "only one class",
    r"\b(can|may|could) bear\b": "accept",
    r"\bnobody (has )?(labelled|answered)\b": "unlabelled",
    r"\bmost telling words\b": "most indicative words",
    r"\b(goes|went|go) on where (it|you|they)\b": "resumes",
    r"\bnothing to complain\b": "no problems",
    r"\bsuch as of\b": '"e.g."',
    r"\btakes any\b": '"picks a free one"',
    r"\bwho may ask\b": "access control",
    r"\bwhat can be asked\b": "endpoints",
}

# Participles say that something happened, not what the thing is.
NAMES = {"found", "held", "told", "made", "given", "kept", "shown"}
# A parameter of ``load``, which users have in their scripts.
PUBLIC = {"given"}

# Names that a thing had before, and its name: one meaning, one name.
FORMER: dict[str, str] = {
    "AnyOfEngine": "AnyOfClassifier",
    "BuildOptions": "Planner",
    "CountEngine": "TextModel",
    "Engine": "TextModel",
    "FusedScorer": "TextScorer",
    "MatrixEngine": "TextModel",
    "ModelSpec": "Model",
    "RegionFeatures": "Columns",
    "SINGLE": "ONE_REGION",
    "SemiEngine": "TextModel",
    "SemiFeatures": "Columns",
    "confidence_level": "level",
    "engine_": "plan_ and text_model_",
    "group_whole": "group_near_duplicates",
    "telling_": "used_names",
}
# British spelling, as the beginning of a word, and the American one. ``labelled`` and
# ``unlabelled`` stay: users have the parameter in their scripts.
_IZE = "general|initial|maxim|minim|normal|optim|organ|recogn|regular|serial"
SPELLING: dict[str, str] = {
    rf"({_IZE}|summar|token)is(e|ed|er|ers|es|ing|ation)\b": "-ize",
    r"behaviour": "behavior",
    r"cent(re|red|res)\b": "center",
    r"colour": "color",
    r"judgement": "judgment",
    r"licence": "license",
    r"neighbour": "neighbor",
}
# Packages whose spelling and names are still to be mended.
LATER = tuple(
    f"src/earmark/{name}"
    for name in (
        *("apps/card", "apps/cli", "decision", "features", "models", "persistence"),
        *("pipeline", "statistics"),
    )
)


def main(arguments: list[str]) -> int:
    """Print what is against the style; the exit status."""
    paths = [Path(name) for name in arguments] or list(_tracked())
    problems = [problem for path in paths for problem in _problems(path)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def _tracked() -> Iterator[Path]:
    names = subprocess.run(
        ["git", "ls-files", "*.md", "*.py", "*.html", "*.js", "*.jinja", "*.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    for name in names:
        if name != "tools/words.py" and not name.startswith("tests/test_words"):
            yield ROOT / name


def _problems(path: Path) -> Iterator[str]:
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    for pattern, better in PHRASES.items():
        for match in re.finditer(pattern, text, flags=re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{place}:{line}: {match.group(0)!r}; write {better}"
    is_ours = path.is_relative_to(ROOT / "src")
    if is_ours and path.suffix == ".py":
        for line, name in _bad_names(ast.parse(text)):
            yield f"{place}:{line}: {name!r}; name it for what it is"
    if (is_ours or path.suffix == ".md") and not str(place).startswith(LATER):
        for line, name, better in _former(text):
            yield f"{place}:{line}: {name!r}; write {better}"


def _former(text: str) -> Iterator[tuple[int, str, str]]:
    """Names that nothing has any more, and words in British spelling."""
    names = rf"(?<![\w.])({'|'.join(FORMER)})\b"
    for match in re.finditer(names, text):
        yield text.count("\n", 0, match.start()) + 1, match[0], FORMER[match[0]]
    for pattern, better in SPELLING.items():
        # Not after a letter; ``by_neighbour`` and ``Neighbour`` are found.
        for match in re.finditer(rf"(?<![a-zA-Z]){pattern}", text, re.IGNORECASE):
            yield text.count("\n", 0, match.start()) + 1, match[0], better


def _bad_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Local names and functions; fields stand in files and on the wire, and stay."""
    fields = {
        id(line.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node.id in NAMES and id(node) not in fields:
                yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node.arg in NAMES - PUBLIC:
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef) and node.name.strip("_") in NAMES:
            yield node.lineno, node.name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
