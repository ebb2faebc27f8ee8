"""When two statements say the same, and when they deny each other."""

import pytest

from memoranda.text.likeness import Answered, answer_to, deny_each_other, is_same

LONG = "My older sister and her husband opened a small bakery near the old harbour in Busan"


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("I live in Seoul", "i live  in SEOUL!"),
        ("I like dogs", "I like the dogs"),
        (LONG, LONG.replace("small", "tiny").replace("tiny", "small") + ", yes"),
        ("저는 서울에 살아요.", "저는 서울에 살아요"),
    ],
)
def test_statements_that_are_the_same(statement: str, other: str) -> None:
    assert is_same(statement, other)
    assert is_same(other, statement)
    assert not deny_each_other(statement, other)


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("I have 2 cats at home", "I have 3 cats at home"),
        ("I can swim", "I can't swim"),
        ("I have a dog", "I have a cat"),
        ("Kim is taller than Lee by far", "Kim is taller than Park by far"),
        ("Tom owes Anna money", "Anna owes Tom money"),
        ("민수가 영희를 이겼다", "영희가 민수를 이겼다"),
        ("The shift goes from 9 to 5", "The shift goes from 5 to 9"),
    ],
)
def test_statements_that_are_not_the_same(statement: str, other: str) -> None:
    assert not is_same(statement, other)


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("I live in Seoul.", "I moved to Busan last month"),
        ("I can swim", "I can't swim"),
        ("I like coffee", "I don't like coffee anymore."),
        ("I love coffee", "I hate coffee"),
        ("My name is Min", "Call me Jo"),
        ("My name's Min", "My name is Jo"),
        ("I'm 30 years old", "I am 31"),
        ("My favourite colour is blue", "my favorite color is green"),
        ("I'm allergic to nuts", "I am not allergic to nuts"),
        ("I work at Hanbit", "I work for Daon now"),
        ("저는 서울에 살아요.", "저는 부산으로 이사했어요"),
        ("나는 커피를 좋아해", "나는 커피를 싫어해"),
        ("나는 커피를 좋아해", "나는 커피를 좋아하지 않아"),
        ("제 이름은 민수예요", "내 이름은 철수야"),
        ("제 생일은 5월 3일이에요", "제 생일은 5월 4일이에요"),
        ("저는 땅콩 알레르기가 있어요", "저는 땅콩 알레르기가 없어요"),
    ],
)
def test_statements_that_deny_each_other(statement: str, other: str) -> None:
    assert deny_each_other(statement, other)
    assert deny_each_other(other, statement)
    assert not is_same(statement, other)


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("I like coffee", "I like tea"),
        ("I have a dog", "I have a cat"),
        ("I bought 2 apples", "I bought 3 apples"),
        ("I don't like coffee", "I like tea"),
        ("My brother is tall", "My brother is here"),
        ("나는 커피를 좋아해", "나는 차를 좋아해"),
    ],
)
def test_statements_that_can_both_hold(statement: str, other: str) -> None:
    assert not deny_each_other(statement, other)


def test_what_a_statement_answers() -> None:
    assert answer_to("Well, I live in New York since May") == Answered("home", "new york")
    assert answer_to("저는 한빛에서 일해요") == Answered("employer", "한빛")
    assert answer_to("It rains") is None
