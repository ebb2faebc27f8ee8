"""Whether a text holds another whole is told whatever the case, the form, spaces and marks."""

from unicodedata import normalize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.plans.raw import holds_whole

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
    assert holds_whole(text, whole)


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
    assert not holds_whole(text, whole)


@given(texts, st.sampled_from([str.upper, str.lower, str.title]), st.sampled_from(["NFC", "NFD"]))
def test_a_text_holds_itself_in_every_form(text: str, case: object, form: str) -> None:
    assume(text.strip())
    changed = normalize(form, case(text) if "ß" not in text else text)  # type: ignore[operator,arg-type]

    assert holds_whole(f"well: {'  '.join(changed.split())} !", text)


@given(texts, st.text(st.sampled_from("abc日 "), min_size=1, max_size=8).filter(str.strip))
def test_no_text_holds_more_than_itself(text: str, more: str) -> None:
    assert not holds_whole(text, text + more)
    assert not holds_whole(text, more + text)
