"""Mail as it is: 200 generated mails in all encodings, mailboxes, broken mail."""

import email.message
import email.policy
import itertools
import warnings

import pytest

from earmark.documents import read_documents
from earmark.documents.mail import decoded_mail, mails_of_box
from earmark.inputs.regions import split_mail

CHARSETS = {
    "utf-8": ("Grüße — жизнь 日本", "Straße und Fluß, naïve café. 東京で会う。"),
    "iso-8859-1": ("Grüße aus Köln", "Straße und Fluß, naïve café."),
    "windows-1252": ("“Quoted” – price €5", "It’s “fine” – naïve café, €5."),
    "koi8-r": ("Привет из Москвы", "Встреча завтра в полдень."),
    "shift_jis": ("会議のお知らせ", "明日の正午に会いましょう。"),
}
ENCODINGS = ("base64", "quoted-printable", "8bit")
SHAPES = ("plain", "html", "alternative", "mixed")
MBOX = "From ann@example.org Fri Sep  6 11:01:04 2002\n"


def generated(charset, coding, shape):
    """The bytes of one mail, and its subject and words of its body."""
    subject, body = CHARSETS[charset]
    mail = email.message.EmailMessage(policy=email.policy.SMTP)
    mail["From"] = "Jörg Müller <joerg@example.org>"
    mail["To"] = "ann@example.org, bob@example.org"
    mail["Date"] = "Fri, 06 Sep 2002 11:01:04 +0000"
    mail["Subject"] = f"Re: {subject}"
    page = f"<html><head><style>p {{}}</style></head><body><p>{body}</p></body></html>"
    if shape == "html":
        mail.set_content(page, subtype="html", charset=charset, cte=coding)
    else:
        mail.set_content(body, charset=charset, cte=coding)
    if shape == "alternative":
        mail.add_alternative(page, subtype="html", charset=charset, cte=coding)
    if shape == "mixed":
        mail.add_attachment(
            b"PK\3\4secret attachment", maintype="application", subtype="zip"
        )
    return mail.as_bytes(), subject, body


CASES = list(itertools.product(CHARSETS, ENCODINGS, SHAPES))
# As a file, in a mailbox, from a string, with other line ends: 60 mails, 240 ways.
WAYS = ("file", "mailbox", "folder", "line ends")


def test_there_are_two_hundred_mails():
    assert len(CASES) * len(WAYS) >= 200


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("charset", CHARSETS)
def test_subject_body_and_addresses_are_right(tmp_path, charset, way):
    mails = [generated(*case) for case in CASES if case[0] == charset]
    contents = [mail for mail, _, _ in mails]
    if way == "mailbox":
        path = tmp_path / "all.mbox"
        boxed = [MBOX.encode() + c.replace(b"\r\n", b"\n") + b"\n" for c in contents]
        path.write_bytes(b"".join(boxed))
        documents = read_documents(path, regions=["subject", "body", "from", "to"])
    elif way == "folder":
        (tmp_path / "box" / "cur").mkdir(parents=True)
        (tmp_path / "box" / "new").mkdir()
        for number, content in enumerate(contents):
            (tmp_path / "box" / "cur" / f"{number:03d}.host:2,S").write_bytes(content)
        texts = read_documents(tmp_path / "box", label=False).texts
        split = [split_mail(text) for text in texts]
        for region, (_, subject, body) in zip(split, mails, strict=True):
            assert region["subject"] == subject
            assert body in region["body"]
        return
    else:
        texts = {"subject": [], "body": [], "from": [], "to": []}
        for number, content in enumerate(contents):
            path = tmp_path / f"{number}.eml"
            if way == "line ends":
                content = content.replace(b"\r\n", b"\n")
            path.write_bytes(content)
            one = read_documents(path, regions=list(texts))
            for name, column in one.texts.items():
                texts[name] += column
        documents = None
    columns = texts if documents is None else documents.texts
    for i, (_, subject, body) in enumerate(mails):
        assert columns["subject"][i] == f"Re: {subject}"
        assert body in columns["body"][i]
        assert "secret" not in columns["body"][i]
        assert "<p>" not in columns["body"][i]
        assert columns["from"][i] == "Jörg Müller <joerg@example.org>"
        assert columns["to"][i] == "ann@example.org, bob@example.org"


@pytest.mark.parametrize("case", CASES, ids=["-".join(case) for case in CASES])
def test_a_mail_with_a_mailbox_line_is_split_as_without(case):
    content, subject, body = generated(*case)
    text = content.decode("utf-8", "surrogateescape")
    assert split_mail(MBOX + text) == split_mail(text)
    assert split_mail(text)["subject"] == subject
    assert body in split_mail(text)["body"]


BROKEN = {
    "base64 cut off": (
        "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
        "aGVsbG8gd29ybGQ\n",
        "hello world",
    ),
    "no base64": (
        "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n%%% no\n",
        "no",
    ),
    "unknown charset": ("Content-Type: text/plain; charset=x-none\n\nplain", "plain"),
    "unknown coding": (
        "Content-Type: text/plain\nContent-Transfer-Encoding: x\n\nas it is",
        "as it is",
    ),
    "no boundary": ("Content-Type: multipart/mixed\n\nstill here", "still here"),
    "never closed": (
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\npart one\n",
        "part one",
    ),
    "HTML called plain": (
        "Content-Type: text/plain\n\n<html><body>seen &amp; read</body></html>",
        "seen & read",
    ),
    "HTML not closed": ("Content-Type: text/html\n\n<p>one <b>two", "one two"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_mail_is_read_as_far_as_it_can_be(case):
    raw, words = BROKEN[case]
    assert words in split_mail(f"Subject: s\n{raw}")["body"]


@pytest.mark.parametrize(
    "subject",
    ["=?utf-8?b?!!!?=", "=?x-none?q?a?=", "=?utf-8?q?never", "=?=?=?=", "plain =?"],
)
def test_a_broken_encoded_word_does_no_harm(subject):
    assert isinstance(split_mail(f"Subject: {subject}\n\nb")["subject"], str)


def test_a_text_without_headers_is_no_mail():
    assert decoded_mail("no headers at all") is None
    assert split_mail("From here on\nno mail")["body"] == "From here on\nno mail"


def test_from_lines_inside_a_mail_do_not_split_it():
    box = b"From a@b.c x\nSubject: s\n\nText\n>From the start\nFrom within\n\n"
    box += b"From d@e.f y\n\nb"
    mails = list(mails_of_box(box.splitlines(keepends=True)))
    assert len(mails) == 2
    assert "\nFrom the start\nFrom within" in decoded_mail(mails[0].decode())["body"]


def test_folders_of_mails_are_labelled_by_their_names(tmp_path):
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        content, subject, _ = generated("utf-8", "base64", "alternative")
        (tmp_path / label / "1.eml").write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        documents = read_documents(tmp_path)
    assert documents.labels == ["ham", "spam"]
    assert [split_mail(text)["subject"] for text in documents.texts] == [subject] * 2
