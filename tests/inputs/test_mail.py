"""Mail regions and stand-in tokens."""

import pytest

from earmark.features.preparation import TextPreparation
from earmark.inputs.regions import split_mail


@pytest.mark.parametrize(
    ("mail", "subject", "body"),
    [
        ("Subject: hello\n\nbody\n\nmore", "hello", "body\n\nmore"),
        ("From: x\r\nSubject: Re: Fwd: a\r\n\r\nb", "a", "b"),
        ("Subject: a long\n  folded line\nFrom: x\n\nb", "a long folded line", "b"),
        ("just a text: with a colon\nand lines", "", None),
        ("no headers at all", "", None),
        ("From: x\n\nno subject", "", "no subject"),
        ("Subject: only", "only", ""),
        ("", "", ""),
    ],
)
def test_headers_are_split_from_the_body(mail, subject, body):
    assert split_mail(mail) == {
        "subject": subject,
        "body": mail if body is None else body,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call 555-1234 now", "call NUMBER now"),
        ("ann.lee+x@mail.example.org wrote", "EMAILADDR wrote"),
        ("version2 and b4 stay", "version2 and b4 stay"),
        ("3.14 and 1,000", "NUMBER and NUMBER"),
    ],
)
def test_numbers_and_addresses_become_tokens(text, expected):
    kinds = ("number", "address")
    assert TextPreparation(substitutions=kinds, lowercase=False)(text) == expected
