"""What a query asks for, and when a document has it."""

import pytest
from hypothesis import given

from memoranda.text import MAX_QUERY_WORDS, Query, matches, query, terms, words
from tests.text.finding import finds, mixed_texts


@given(mixed_texts())
def test_a_text_is_found_by_each_of_its_words(text: str) -> None:
    counts = terms(text).counts

    assert [word for word in words(text) if not matches(query(word), counts)] == []


@given(mixed_texts())
def test_a_text_is_found_by_itself_if_it_asks_for_anything(text: str) -> None:
    assert finds(text, text) == bool(query(text).words)


@given(mixed_texts(), mixed_texts())
def test_more_text_never_hides_a_match(asked: str, text: str) -> None:
    assert finds(asked, f"{asked} {text}") == bool(query(asked).words)


@given(mixed_texts(), mixed_texts())
def test_every_word_found_means_that_any_is(asked: str, text: str) -> None:
    assert finds(asked, text, every=False) >= finds(asked, text, every=True)


@given(mixed_texts(), mixed_texts())
def test_only_the_listed_tokens_decide(asked: str, text: str) -> None:
    counts = terms(text).counts
    wanted = query(asked)

    few = counts.keys() & set(wanted.tokens)

    assert matches(wanted, few) == matches(wanted, counts)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("東京", "私は東京都に住む"),
        ("東京都", "東京都庁"),
        ("犬", "犬が好き"),
        ("犬が", "犬は"),
        ("猫", "我喜欢猫"),
        ("电子邮件", "客户更喜欢电子邮件。"),
        ("食べる", "昨日食べた"),
        ("コーヒーを", "ホットコーヒー"),
        ("りんご", "りんごが好き"),
        ("สวัสดี", "สวัสดีครับ"),
        ("John.Smith", "Smith, John"),
        ("smith", "john.smith@example.com"),
        ("example", "kim@example.com"),
        ("customer id", "customer_id"),
        ("2026", "2026.11.15"),
        ("3.14", "pi is 3.14."),
        ("running", "he runs"),
        ("José", "José's"),
        ("v2.10", "v2.10's"),
    ],
)
def test_a_query_finds(asked: str, text: str) -> None:
    assert finds(asked, text)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("3.14", "3 of 14"),
        ("v2.10", "v2 and 10"),
        ("東京", "京東"),
        ("コーヒー", "コート"),
        ("customer", "cost"),
        ("", "anything"),
        ("…!", "anything"),
    ],
)
def test_a_query_does_not_find(asked: str, text: str) -> None:
    assert not finds(asked, text)
    assert not finds(asked, text, every=False)


def test_a_question_without_spaces_finds_by_any_of_its_pairs() -> None:
    assert not finds("客户喜欢什么?", "客户要电话")
    assert finds("客户喜欢什么?", "客户要电话", every=False)


def test_a_word_that_is_asked_twice_is_asked_once() -> None:
    assert len(query("Customer customers CUSTOMER's").words) == 1


def test_a_query_without_words_finds_nothing() -> None:
    assert not matches(Query(()), {"a"}, every=True)
    assert not matches(Query(()), {"a"}, every=False)


def test_a_long_query_is_cut_and_says_so() -> None:
    most = query(" ".join(f"w{n}" for n in range(MAX_QUERY_WORDS)) + " w0")
    more = query(" ".join(f"w{n}" for n in range(MAX_QUERY_WORDS + 1)))

    assert (len(most.words), most.is_cut) == (MAX_QUERY_WORDS, False)
    assert (len(more.words), more.is_cut) == (MAX_QUERY_WORDS, True)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("checkup", "her check-up is on Friday"),
        ("checkups", "her check-up is on Friday"),
        ("check-up", "her checkups are on Fridays"),
        ("check-up", "they check him up"),
        ("Check-ups?", "(check-up)"),
        ("state-of-the-art", "state of the art"),
    ],
)
def test_hyphens_between_words_make_no_difference(asked: str, said: str) -> None:
    assert matches(query(asked), terms(said).counts)


def test_a_word_with_a_hyphen_is_not_its_first_part_alone() -> None:
    assert not matches(query("check-up"), terms("the check bounced").counts)
