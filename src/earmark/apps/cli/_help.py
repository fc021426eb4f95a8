"""``--help``: examples first, then the options by what they are about.

And messages in the words of these options.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from earmark.apps.cli._console import be_quiet, columns, styled
from earmark.apps.cli._options import SHARED

_INDENT = 26
# Panels and their options in the order in which they are shown.
_PANELS = {
    "Data": """--labels --label --text --unlabelled --test --classes --class-names
        --guidelines --data --url --unit --multi-label --email --encoding --format
        --no-quotes --merge-labels""",
    "Model": """--model --models --class-weight --stem --analyzer --ngrams --substitute
        --encoder --budget --sizes --repeats --test-size --from-names --seed --jobs""",
    "Deciding": """--max-error --calibration --min-coverage --learn-confidence
        --min-confidence --novelty --check-share --overlap --answer-all""",
    "Large data": "--memory --by-part --dask --skip-bad --keep-parts --hashed",
    "Output": """--out --project --report --id --keep --with-text --top-k --explain
        --top --paths --intended-use --date --license --contact --hub --words --chart
        --export --no-estimate --json --quiet""",
    "Server": """--host --port --token-file --allow-host --invite --revoke --open
        --max-body --max-text --max-batch --max-concurrency --timeout --reload --canary
        --learn --feedback""",
    "Options": "",
}
PANELS = {name: options.split() for name, options in _PANELS.items()}
_FLAGS = [flag for options in PANELS.values() for flag in options]
_QUIET = ("--quiet", "Print only results, warnings and errors.")


# Parameters of Python whose flag has another name, and those that have none.
_RENAMED = {
    "regions": "--text",
    "ngram_range": "--ngrams",
    "quote": "--no-quotes",
    "max_novelty": "--novelty",
    "n_repeats": "--repeats",
}
_NO_FLAG = (
    r"(?:field_limit|allow_unlabelled|null_text|separator|pattern|verify)=|label=False|min_df|"
    r"max_iter|tokenizer|measure_\w+|load\(|partial_fit|calibration=\("
)
# A clause about such a parameter, up to the next one or to the end.
_CLAUSE = re.compile(rf"[;,.] ?(?=[^;,.]*\b(?:{_NO_FLAG}))[^;]*?(?=;|\.?$)")
_SET = re.compile(
    r"(?<![\w.'\"/-])([a-z_]+)=('[^']*'|\[[^]]*\]|\{[^}]*\}|\([^)]*\)|\w+)?"
)
_NAMED = re.compile(r"(?<![\w.'\"/-])([a-z]+(?:_[a-z]+)+)\b(?!['\"/.]\w)")


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """A command with an option per field of its parameters that are dataclasses."""
    groups: dict[str, Any] = {}
    options = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        every = [parameter.replace(annotation=kind)]
        if is_dataclass(kind):
            groups[name], inner = kind, get_type_hints(kind, include_extras=True)
            every = [
                parameter.replace(
                    name=f.name, default=f.default, annotation=inner[f.name]
                )
                for f in fields(kind)
            ]
        options += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in every]

    @wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{f.name: values.pop(f.name) for f in fields(kind)})
        command(**values)

    run.__annotations__ = {option.name: option.annotation for option in options}
    vars(run)["__signature__"] = inspect.Signature(options)
    return run


def _place(option: Any) -> int:
    """Arguments as they come, then options in the order of the panels."""
    if option.param_type_name == "argument":
        return -1
    places = [_FLAGS.index(flag) for flag in option.opts if flag in _FLAGS]
    return places[0] if places else len(_FLAGS)


def _arguments(command: TyperCommand | TyperGroup) -> list[TyperArgument]:
    return [p for p in command.params if isinstance(p, TyperArgument)]


def _usage(command: TyperCommand | TyperGroup, ctx: Any) -> str:
    """The first line of the help, and of errors."""
    names = [p.metavar or p.name.upper() for p in _arguments(command)]
    names += ["COMMAND"] if isinstance(command, Group) else []
    return " ".join(["Usage:", ctx.command_path, *names, "[OPTIONS]"])


class Command(TyperCommand):
    """A command that explains itself in panels, and knows --quiet.

    Its help is the docstring of its function. Lines that begin with a flag describe
    that option, as ``-o, --out FILE  Write here.``; indented lines continue them.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        """Give every option what the docstring says of it."""
        super().__init__(*args, **settings)
        self.help, said = _options_said(self.help)
        shared = _options_said(f".\n{SHARED}")[1]
        for option in self.params:
            if not isinstance(option, TyperOption):
                continue
            if option.is_flag:
                option.secondary_opts = []  # no --no-...
            words = said.pop(option.opts[0], None) or shared.get(option.opts[0])
            if words is not None and not option.help:
                option.opts, option.metavar, option.help = words
        assert not said, f"{self.name}: no such option: {', '.join(said)}"
        self.params.sort(key=_place)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Take --quiet out, unless the command has its own."""
        quiet = _QUIET[0] in args and not self._knows_quiet()
        be_quiet(quiet)
        if quiet:
            args = [word for word in args if word != _QUIET[0]]
        return super().make_context(info_name, args, parent, **extra)

    def _knows_quiet(self) -> bool:
        return any(_QUIET[0] in option.opts for option in self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say which value is wrong; that the last argument is missing, not others."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if error.param is not None:
                values, *_ = self.make_parser(ctx).parse_args(words)
                value = values.get(str(error.param.name))
                if error.param.nargs < 0:
                    last = _arguments(self)[-1]
                    error.param = last if values.get(str(last.name)) else error.param
                error.message = _with_value(error.message, value)
            raise

    get_usage = _usage

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        lines = _beginning(self, ctx)
        panels: dict[str, list[str]] = {}
        for option in self.get_params(ctx):
            if not getattr(option, "hidden", False):
                panels.setdefault(panel(option), []).append(_row(*described(option)))
        if not self._knows_quiet():
            panels.setdefault("Output", []).append(_row(*_QUIET))
        for name in PANELS:
            if name in panels:
                lines += [_head(name), *panels[name], ""]
        formatter.write("\n".join(lines))


class Group(TyperGroup):
    """The list of commands."""

    get_usage = _usage

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        lines = [*_beginning(self, ctx), _head("Commands")]
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                lines.append(_row(name, in_short(command.help), 16))
        options = [_row(*described(option)) for option in self.get_params(ctx)]
        lines += ["", _head("Options"), *options, "", _filled(self.epilog or "")]
        formatter.write("\n".join(lines))


def _with_value(message: str, value: object) -> str:
    """A message about an option, with the value that was given to it."""
    message = message.removeprefix("Value error, ")
    if not isinstance(value, str) or re.search(
        rf"(?<!\w){re.escape(value)}\b", message
    ):
        return message
    return f"{message.rstrip('.')}; got {value}."


def _beginning(command: TyperCommand | TyperGroup, ctx: Any) -> list[str]:
    """How it is called, what it is about, and examples."""
    about, examples = help_parts(command.help)
    usage = _usage(command, ctx).replace("Usage:", _head("Usage"))
    lines = [usage, "", *map(_filled, about)]
    return [*lines, _head("Examples"), *map(_example, examples), ""]


def _options_said(
    text: str | None,
) -> tuple[str, dict[str, tuple[list[str], str | None, str]]]:
    """A help text without its lines about options; flags, value and words of each."""
    about, _, options = inspect.cleandoc(text or "").partition("\n\n-")
    said = {}
    for entry in f"-{options}".replace("\n    ", " ").splitlines() if options else ():
        head, words = entry.split("  ", 1)
        flags = re.findall(r"--?[\w-]+", head)
        metavar = re.sub(r"(?:--?[\w-]+(?:, )?)+ ?", "", head, count=1)
        said[flags[-1]] = flags, metavar or None, words
    return about, said


def help_parts(text: str | None) -> tuple[list[str], list[str]]:
    """Paragraphs of a help text, and its examples."""
    paragraphs = inspect.cleandoc(text or "").replace("\b", "").split("\n\n")
    examples = [p for p in paragraphs if p.lstrip().startswith(("earmark ", "cat "))]
    about = [" ".join(p.split()) for p in paragraphs if p not in examples]
    commands = re.sub(r" *\\\n *", " ", "\n".join(examples)).splitlines()
    return about, [line.strip() for line in commands]


def in_short(text: str | None) -> str:
    """The first sentence of a help text."""
    first = help_parts(text)[0][0].split(". ")[0]
    return first if first.endswith((".", "?")) else f"{first}."


def in_flags(message: str) -> str:
    """A message that names parameters of Python, in the flags of the commands.

    >>> in_flags("name the text with text=, or give format='csv'; raise test_size.")
    'name the text with --text, or give --format csv; raise --test-size.'
    >>> in_flags("got none; fill it in, or read it with allow_unlabelled=True.")
    'got none; fill it in.'
    """

    def flag(match: re.Match[str]) -> str:
        name, value = match[1], match[2] if match.re is _SET else None
        known = _RENAMED.get(name) or f"--{name.replace('_', '-')}"
        if known not in _FLAGS:
            return match[0]
        plain = (value or "").strip("'()").replace(", ", ",")
        has_value = not re.match(r"True$|None$|\[|\{", plain) and plain
        return f"{known} {plain}" if has_value else known

    return _NAMED.sub(flag, _SET.sub(flag, _CLAUSE.sub("", message)))


def _head(title: str) -> str:
    return styled(f"{title}:", bold=True)


def _example(command: str) -> str:
    """A command, with a backslash where it goes on; a long one below its remark."""
    command, _, remark = command.partition("  # ")
    if len(command) + len(remark) + 6 <= _width():
        return f"  {command}" + (f"  # {remark}" if remark else "")
    above = [f"  # {line}" for line in textwrap.wrap(remark, _width() - 4)]
    # What is in quotes stays on one line: a backslash would be part of it.
    whole = re.sub(r"'[^']*'|\"[^\"]*\"", lambda m: m[0].replace(" ", "\0"), command)
    parts = textwrap.wrap(
        whole, _width() - 6, break_on_hyphens=False, break_long_words=False
    )
    return "\n".join([*above, "  " + " \\\n      ".join(parts).replace("\0", " ")])


def _filled(paragraph: str) -> str:
    return textwrap.fill(paragraph, _width()) + "\n"


def _width() -> int:
    return columns() or 80


def panel(option: Any) -> str:
    """What an option is about."""
    if option.param_type_name == "argument":
        return "Data"
    about = (name for name, flags in PANELS.items() if {*flags} & {*option.opts})
    return next(about, "Options")


def described(option: Any) -> tuple[str, str]:
    """The name of an option with its value, and what it does."""
    about = option.help or ""
    if option.param_type_name == "argument":
        return option.metavar or option.name.upper(), about
    name = ", ".join(sorted(option.opts, key=len))
    if not option.is_flag:
        usual = "NAME" if isinstance(option.default, str) else "N"
        name += f" {option.metavar or usual}"
    default = option.default
    if isinstance(default, str | int | float | Path) and not option.is_flag:
        about += f" Default: {default}."
    return name, about


def _row(name: str, about: str, indent: int = _INDENT) -> str:
    """A name and its description in two columns; a long name has its own line."""
    hang = " " * (indent + 2)
    body = textwrap.wrap(
        about, _width() - indent - 2, break_on_hyphens=False, break_long_words=False
    )
    first = styled(f"  {name:<{indent}}", fg=typer.colors.CYAN)
    if len(name) >= indent:
        return "\n".join([first.rstrip(), *(hang + line for line in body)])
    return f"\n{hang}".join([f"{first}{body[0] if body else ''}", *body[1:]])
