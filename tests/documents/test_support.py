"""The corpus that comes with the package."""

from collections import Counter

from earmark.documents import read_documents, support_corpus
from earmark.documents.support import write_support_corpus
from earmark.inputs.duplicates import group_near_duplicates


def test_it_is_balanced_mixed_and_without_copies():
    corpus = support_corpus()
    assert set(Counter(corpus.labels).values()) == {45}
    assert set(Counter(corpus.labels[:40]).values()) == {10}
    assert len(set(corpus.texts)) == 180
    assert len(group_near_duplicates(corpus.texts).first) == 180


def test_the_files_hold_the_same_documents(tmp_path):
    train, test = (
        read_documents(path, text="text", label="topic")
        for path in write_support_corpus(tmp_path / "messages")
    )
    corpus = support_corpus()
    assert (len(train), len(test)) == (120, 60)
    assert [*train.texts, *test.texts] == corpus.texts
    assert [*train.labels, *test.labels] == corpus.labels
