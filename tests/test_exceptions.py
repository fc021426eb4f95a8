"""Messages: one text for every surface, each in its own names of parameters."""

import copy
import pickle

import pytest

from earmark.exceptions import (
    DataError,
    EarmarkError,
    EarmarkWarning,
    Named,
    ParameterError,
    Try,
    UnavailableError,
    only_in_python,
)
from earmark.parameters import Limits, require_number, require_one_of


def flags(name, value):
    """A surface that knows three parameters by other names."""
    known = {"encoding": "--encoding", "text": "--text", "max_novelty": "--novelty"}
    if name not in known:
        return None
    return known[name] if value is ... else f"{known[name]} {value}"


def test_a_plain_fault_is_said_as_it_is():
    for text in ("the file is empty.", "no dot"):
        assert str(DataError(text)) == DataError(text).said(flags) == text


def test_advice_names_parameters_in_the_words_of_the_surface():
    error = DataError(
        "a.csv: expected text, got a NUL byte at byte 3",
        Try("if the file is UTF-16 give", encoding="utf-16"),
        Try("or read it as an empty one with", null_text="empty"),
        Try("Did you mean 'b'?"),
    )
    assert str(error) == (
        "a.csv: expected text, got a NUL byte at byte 3; if the file is UTF-16 give "
        "encoding='utf-16', or read it as an empty one with null_text='empty'. Did you "
        "mean 'b'?"
    )
    assert error.said(flags) == (
        "a.csv: expected text, got a NUL byte at byte 3; if the file is UTF-16 give "
        "--encoding utf-16. Did you mean 'b'?"
    )


def test_a_parameter_within_the_fault_is_named_too():
    column = Named("text", is_argument=True)
    error = DataError(["expected a column 'x' (asked for by ", column, "), got none."])
    assert str(error) == "expected a column 'x' (asked for by text=), got none."
    assert error.said(flags) == "expected a column 'x' (asked for by --text), got none."
    unknown = DataError([Named("sample_weight"), " must not be zero."])
    assert str(unknown) == unknown.said(flags) == "sample_weight must not be zero."


def test_what_users_wrote_is_never_rewritten():
    label = "encoding= class_weight text='x' {max_novelty}"
    error = DataError(f"the model has not learned the label(s) {label}", Try(label))
    assert error.said(flags).count(label) == 2


def test_advice_for_python_alone_is_left_out_elsewhere():
    error = EarmarkError("no model is here", only_in_python("call fit first"))
    assert str(error) == "no model is here; call fit first."
    assert error.said(flags) == "no model is here."


def test_a_place_comes_first_and_the_rest_stays():
    error = DataError("expected a label", Try("name it with", text=...), about="text")
    there = error.at("row 3").at("a.csv")
    assert type(there) is DataError
    assert str(there) == "a.csv: row 3: expected a label; name it with text=."
    assert there.about == "text"
    assert str(error) == "expected a label; name it with text=."


def test_another_package_that_copies_exceptions_its_way_changes_nothing():
    pickling = pytest.importorskip("tblib.pickling_support")
    pickling.install()
    error = DataError("expected a label")
    assert str(error.at("row 3")) == "row 3: expected a label"
    assert str(error) == "expected a label"


def test_a_wrong_parameter_stays_one_at_its_place():
    there = ParameterError("C", "be > 0", "-1", "a number", "NBSVM").at("row 3")
    assert str(there) == "row 3: NBSVM.C must be > 0, got -1; a number."
    assert (there.parameter, there.expected, there.got) == ("C", "> 0", "-1")
    assert str(copy.copy(there)) == str(there)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))]
)
@pytest.mark.parametrize(
    "error",
    [
        DataError("a fault", Try("give", text=...), about="text").at("b.csv"),
        ParameterError("C", "be > 0", "-1", "a number", "NBSVM"),
        UnavailableError("no forget", only_in_python("train again")),
        EarmarkWarning(["odd ", Named("text")], Try("look")),
    ],
)
def test_messages_travel_between_processes(error, duplicate):
    again = duplicate(error)
    assert type(again) is type(error)
    assert (str(again), again.said(flags)) == (str(error), error.said(flags))
    assert again.about == error.about


class Owner:
    max_novelty = 2.0
    method = "x"
    text = "many"


def test_a_wrong_parameter_says_which_what_and_what_came():
    with pytest.raises(ParameterError) as caught:
        require_number(Owner(), "max_novelty", Limits(0.0, 1.0, hint="a share"))
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.parameter, error.expected, error.got) == (
        "max_novelty",
        "in [0.0, 1.0]",
        "2.0",
    )
    assert str(error) == "Owner.max_novelty must be in [0.0, 1.0], got 2.0; a share."
    assert error.said(flags) == "--novelty must be in [0.0, 1.0], got 2.0; a share."
    with pytest.raises(
        ParameterError, match=r"Owner.method must be one of 'a', got 'x'"
    ):
        require_one_of(Owner(), "method", ("a",))
    with pytest.raises(TypeError, match=r"Owner.text must be a number, got 'many'"):
        require_number(Owner(), "text", Limits())
