"""The page of exercises: every one of the chapter is there, and its code runs."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "maths" / "exercises.md"


def test_every_exercise_of_the_chapter_is_solved():
    text = PAGE.read_text(encoding="utf-8")
    numbers = {
        int(n)
        for bold in re.findall(r"\*\*([\d., ]+)\*\*", text)
        for n in re.findall(r"14\.(\d+)", bold)
    }
    assert numbers == set(range(1, 19))


def test_the_code_of_the_exercises_runs():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 60
    assert failed == 0
