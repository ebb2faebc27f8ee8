"""Whether a text holds another whole is told whatever the case, the form, spaces and marks."""

from unicodedata import category, normalize

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from memoranda.plans.raw import READ, Whole, amount
from memoranda.text import fold, words

texts = st.text(
    st.sampled_from("abcXYZ é각한글이메日本🙂 .,-\n\t1\uff12ﬁß"), min_size=1, max_size=30
)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("The customer prefers email.", "The customer prefers email."),
        ("the CUSTOMER  prefers\nemail", "The customer prefers email."),
        ("So: the customer, prefers email!", "The customer prefers email."),
        ("Thecustomerprefersemail", "The customer prefers email."),
        (
            normalize("NFD", "고객은 이메일을 선호합니다"),
            normalize("NFC", "고객은 이메일을 선호합니다."),
        ),
        ("(고객은이메일을선호합니다)", "고객은 이메일을 선호합니다"),
        ("the ﬁle", "the file"),
        ("OK!", "ok"),
        ("well, yes then", "Yes."),
        ("이메일로 연락", "이메일"),
        ("👍 done", "👍"),
        ("→ …", "…"),
        ("a ... b", ". . ."),
    ],
)
def test_a_whole_text_is_found_however_it_is_written(text: str, whole: str) -> None:
    assert Whole(whole).is_in(text)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("customer, email", "The customer prefers email."),
        ("prefers email", "The customer prefers email."),
        ("yesterday's meeting", "Yes."),
        ("a plan", "A plan B"),
        ("network", "A"),
        ("네트워크", "네"),
        ("done", "👍"),
        ("x", ""),
        ("x", " \n"),
    ],
)
def test_a_part_or_a_chance_likeness_is_none(text: str, whole: str) -> None:
    assert not Whole(whole).is_in(text)


@given(texts, st.sampled_from([str.upper, str.lower, str.title]), st.sampled_from(["NFC", "NFD"]))
def test_a_text_holds_itself_in_every_form(text: str, case: object, form: str) -> None:
    assume(text.strip())
    changed = normalize(form, case(text) if "ß" not in text else text)  # type: ignore[operator,arg-type]

    assert Whole(text).is_in(f"well: {'  '.join(changed.split())} !")


@given(texts, st.text(st.sampled_from("abc日 "), min_size=1, max_size=8).filter(str.strip))
def test_no_text_holds_more_than_itself(text: str, more: str) -> None:
    assert not Whole(text + more).is_in(text)
    assert not Whole(more + text).is_in(text)


# ------------------------------------------------------------------------------ long ones


def defined(text: str, whole: str) -> bool:
    """The definition, on all of both."""
    sought, there = words(whole), words(text)
    runs = (there[at : at + len(sought)] for at in range(len(there)))
    if sought and sought in runs:
        return True
    letters, outside = (
        "".join(one for one in fold(given) if one.isalnum() or category(one)[0] == "M")
        for given in (whole, text)
    )
    if sum(1 if one.isascii() else 2 for one in letters) >= 5:
        return letters in outside
    marks = "".join(fold(whole).split())
    return not sought and bool(marks) and marks in "".join(fold(text).split())


@given(
    parts=st.lists(texts, min_size=1, max_size=4),
    times=st.sampled_from([1, 9, 30]),
    around=st.tuples(texts, texts),
    gap=st.sampled_from([" ", "", "\n", " \u0301"]),
    cut=st.integers(-3, 3),
)
@settings(max_examples=30)  # both read all of long texts
@example(["…"], 600, ("", ""), " ", 0)
@example([". a"], 600, ("", ""), "", 1)
@example(["a"] * 3, 600, ("", ""), "", -1)
def test_a_text_of_any_length_is_found_as_the_definition_says(
    parts: list[str], times: int, around: tuple[str, str], gap: str, cut: int
) -> None:
    whole = gap.join(parts * times)
    before, after = around
    for text in (whole, whole[: len(whole) - cut], whole[max(cut, 0) :], whole.replace(" ", "")):
        surrounded = f"{before} {text}{after}"
        assert Whole(whole).is_in(surrounded) == defined(surrounded, whole)
        assert Whole(whole).is_a_remark == (amount(whole) <= 4)


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize("long", [f"{'word ' * 50_000}end", f"Yes{' ' * 300_000}.", "한" * 200_000])
def test_what_holds_all_of_a_very_long_text_holds_what_is_read_of_it(long: str) -> None:
    assert Whole(long).is_in(long)
    assert Whole(long).is_in(f"so: {long.upper()}")
    assert not Whole(long).is_in(long[: READ // 2].strip("Yes"))
