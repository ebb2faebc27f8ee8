"""What is kept of a turn: a deterministic extract, short, found again, never the response."""

from typing import Any
from unicodedata import is_normalized, normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.kernel.errors import InvalidItem
from recollect.plans.extracting import NOT_KEPT, extract
from recollect.plans.matching import match
from recollect.plans.raw import holds_whole
from recollect.plans.summary import Limits, Summary, checked
from recollect.text import fold

LIMITS = Limits()
ENGLISH = (
    "Sure! The customer prefers email over phone calls. Dr. Kim noted in March that calls before"
    " 10 am go unanswered. Invoices go to billing@example.com. Let me know if you need more."
)
KOREAN = (
    "고객은 전화보다 이메일을 선호합니다. 그래서 청구서는 매월 5일에 이메일로 보내 드리겠습니다."
    " USB케이블은 다음 주 화요일에 도착합니다. 더 궁금한 점이 있으면 알려 주세요!"
)


def kept(response: str, text: str | None = None, limits: Limits = LIMITS) -> Summary:
    """What is kept, after the check that every summariser has to pass."""
    made = extract(response, text, limits)
    assert checked(made, response, text, limits) == Summary(made.summary, tuple(made.keywords))
    return made


# --------------------------------------------------------------------------- examples


def test_an_english_answer_is_kept_by_its_best_sentences_in_their_order() -> None:
    made = kept(ENGLISH, "How should I reach the customer?")

    assert made.summary == (
        "The customer prefers email over phone calls. Dr. Kim noted in March that calls before"
        " 10 am go unanswered."
    )
    assert made.keywords[0] == "customer"
    assert {"call", "Kim", "email"} <= set(made.keywords)


def test_a_korean_answer_is_kept_by_its_best_sentences_and_nouns_without_particles() -> None:
    made = kept(KOREAN, "고객에게 어떻게 연락할까요?")

    assert made.summary == (
        "고객은 전화보다 이메일을 선호합니다."
        " 그래서 청구서는 매월 5일에 이메일로 보내 드리겠습니다."
    )
    assert made.keywords[:2] == ("이메일", "고객")
    assert {"전화", "청구서", "5일", "USB"} <= set(made.keywords)


@pytest.mark.parametrize(
    ("response", "text", "queries"),
    [
        (ENGLISH, None, ["does the CUSTOMER like e-mail?", "phone calls?", "who is Kim?"]),
        (
            KOREAN,
            None,
            ["이메일로 보냈나요?", "고객한테 뭐라고 하죠", "usb 왔어요?", "청구서는 언제"],
        ),
        ("It is hunter2, as before.", "What's the wifi password?", ["the Wifi password again?"]),
        (
            "금요일 오후 3시입니다.",
            "회의는 언제인가요?",
            ["회의 시간이 언제죠?", "3시에 뭐 있어요?"],
        ),
        ("You have two open invoices and one ticket.", None, ["which invoice?", "tickets"]),
        ("Use C++ here, or C# there.", None, ["is c++ fine?", "c#?"]),
    ],
)
def test_what_is_kept_is_found_by_questions_about_it(
    response: str, text: str | None, queries: list[str]
) -> None:
    made = kept(response, text)

    assert [query for query in queries if not match(made.keywords, query).in_all] == []


@pytest.mark.parametrize(
    ("response", "text", "summary"),
    [
        ("Your order number is 48213.", "What is my order number?", "order, number, 48213"),
        ("회의는 금요일 오후 3시에 있습니다.", "회의는 언제인가요?", "회의, 금요일, 3시"),
        ("Sure! The meeting with Kim is on Friday at 3pm.", None, "meeting, Kim, Friday, 3pm"),
    ],
)
def test_one_sentence_is_kept_by_its_weightiest_words(
    response: str, text: str | None, summary: str
) -> None:
    assert kept(response, text).summary == summary


@pytest.mark.parametrize(
    ("response", "text", "summary", "keywords"),
    [
        ("Paris.", "What is the capital of France?", "capital, France → …", {"France", "capital"}),
        ("네.", "회의가 금요일인가요?", "금요일 → …", {"금요일", "회의"}),
        ("Hello!", "hi", NOT_KEPT, set()),
        ("Hello!", None, NOT_KEPT, set()),
        ("👍", None, NOT_KEPT, set()),
    ],
)
def test_of_a_word_nothing_is_kept_but_what_it_answered(
    response: str, text: str | None, summary: str, keywords: set[str]
) -> None:
    made = kept(response, text)

    assert (made.summary, set(made.keywords)) == (summary, keywords)


@pytest.mark.parametrize("response", ["…", ".", "→", "→ …", "(…)", "?!", "(?)"])
def test_even_a_response_of_marks_alone_is_not_kept(response: str) -> None:
    assert kept(response).keywords == ()


def test_code_headings_and_marks_are_no_part_of_a_summary() -> None:
    response = (
        "## Deploying\n\n1. Run `make build`.\n2. Push the **image** to the [registry](http://x).\n\n"
        "```sh\nSECRET=1 make build\n```\nThen watch the Grafana dashboard for ten minutes."
    )

    made = kept(response)

    assert made.summary == ("Run make build. Then watch the Grafana dashboard for ten minutes.")
    assert "SECRET" not in made.keywords


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    response = "The report covers " + "revenue in Europe and Asia, " * 30 + "all of it. Fine then."

    made = kept(response, limits=Limits(max_length=60))

    assert len(made.summary) <= 60
    assert made.summary.endswith("…")


def test_the_forms_of_a_word_count_as_one_and_the_shortest_is_kept() -> None:
    made = kept(
        "Tickets are open. This ticket is new, that ticket is old. 티켓은 많고 티켓을 본다."
    )

    assert "ticket" in made.keywords
    assert [fold(keyword) for keyword in made.keywords].count("tickets") == 0
    assert made.keywords.count("티켓") == 1


# ------------------------------------------------------------------------- properties

TYPED = """
customer email Kim 48213 v2.10 c++ invoices the is of and to STRASSE straße résumé 東京都 タワー
고객은 이메일을 청구서 금요일에 합니다. 있습니다. 그리고 🙂 … ``` # - > ** . ! ? 1. Dr.
"""
ODD = ["e\u0301te\u0301", "\uff21\uff22\uff23", "\u200b", "\x00", "\ud800", "\n", "\n\n"]
WORDS = TYPED.split() + ODD
responses = st.lists(st.sampled_from(WORDS) | st.text(max_size=6), min_size=1, max_size=60).map(
    " ".join
)


@pytest.mark.rule("ING-RAW")
@settings(max_examples=150)
@given(responses.filter(str.strip), st.none() | responses, st.integers(16, 300), st.integers(1, 9))
@example("the", None, 16, 1)
@example("a b", "a b c d e f", 16, 3)
def test_whatever_the_response_the_extract_may_be_kept(
    response: str, text: str | None, length: int, keywords: int
) -> None:
    limits = Limits(length, keywords)

    made = kept(response, text, limits)

    assert 0 < len(made.summary) <= length
    assert len(made.keywords) <= keywords
    assert not holds_whole(made.summary, response)
    assert not any(holds_whole(keyword, response) for keyword in made.keywords)
    assert all(keyword.strip() and is_normalized("NFC", keyword) for keyword in made.keywords)
    assert len({fold(keyword) for keyword in made.keywords}) == len(made.keywords)
    assert extract(response, text, limits) == made


# ------------------------------------------------------------------------------ check


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    "summary",
    [
        "The customer prefers email.",
        "the  CUSTOMER prefers\temail",
        normalize("NFD", "It said: the customer prefers email, no more."),
        "Thecustomerprefersemail",
    ],
)
def test_a_summary_that_holds_the_whole_response_is_refused(summary: str) -> None:
    with pytest.raises(InvalidItem) as caught:
        checked(Summary(summary, ["email"]), "The customer prefers email.", None, LIMITS)

    assert (caught.value.code, caught.value.where) == ("input.item", "$.summary")


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    "keywords",
    [
        ["the customer prefers email"],
        ["The", "customer", "prefers", "email"],
        ["x", "THE CUSTOMER", "prefers", "email", "y"],
    ],
)
def test_keywords_that_hold_the_whole_response_are_refused(keywords: list[str]) -> None:
    with pytest.raises(InvalidItem) as caught:
        checked(Summary("a preference", keywords), "The customer prefers email.", None, LIMITS)

    assert caught.value.where == "$.keywords"


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    ("summary", "keywords"),
    [
        ("The word is hunter22 and the", ["vault opens at nine"]),
        ("vault opens at nine", ["The word is hunter22", "and the"]),
        ("Noted", ["The word", "is", "hunter22", "and", "the", "vault opens", "at", "nine"]),
    ],
)
def test_a_response_in_two_halves_is_the_whole_response(summary: str, keywords: list[str]) -> None:
    response = "The word is hunter22, and the vault opens at nine."

    with pytest.raises(InvalidItem):
        checked(Summary(summary, keywords), response, None, Limits(max_keywords=32))


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    "said",
    [
        "我昨天在北京买了一台新电脑但是今天早上它突然坏了",
        "きのうとうきょうであたらしいパソコンをかいましたがこわれました",
        "วันนี้ฉันไปตลาดซื้อปลาและผักแล้วกลับบ้าน",
        "x" * 100,
    ],
)
def test_what_is_said_without_spaces_is_no_remark(said: str) -> None:
    with pytest.raises(InvalidItem):
        checked(Summary(f"Said: {said}", []), "I see, and I will look into it.", said, Limits())


@pytest.mark.parametrize(
    "said", ["北京天气怎么样", "сколько это будет стоить", "über die Straße gehen", "고객 문의"]
)
def test_a_remark_is_one_in_every_language(said: str) -> None:
    kept = checked(Summary(f"Said: {said}", []), "I see, and I look into it.", said, Limits())

    assert said in kept.summary


@pytest.mark.rule("ING-RAW")
def test_a_summary_that_repeats_all_that_the_user_said_is_refused_but_for_a_remark() -> None:
    response = "There are several ways to do that, and all of them take a while."

    with pytest.raises(InvalidItem):
        checked(
            Summary("How do I move house cheaply?", []),
            response,
            "how do I move house cheaply",
            LIMITS,
        )
    checked(Summary("about email settings", []), response, "email settings", LIMITS)


@pytest.mark.parametrize(
    ("summary", "keywords", "where"),
    [
        ("", ["a"], "$.summary"),
        (" \u200b", ["a"], "$.summary"),
        (None, ["a"], "$.summary"),
        ("x" * 281, ["a"], "$.summary"),
        ("a\x00", ["a"], "$.summary"),
        ("fine", [""], "$.keywords[0]"),
        ("fine", ["ok", "\t"], "$.keywords[1]"),
        ("fine", [7], "$.keywords[0]"),
        ("fine", ["\ud800"], "$.keywords[0]"),
        ("fine", ["x" * 257], "$.keywords"),
        ("fine", list("abcdefghi"), "$.keywords"),
    ],
)
def test_what_cant_be_kept_is_refused_with_its_place(
    summary: Any, keywords: Any, where: str
) -> None:
    with pytest.raises(InvalidItem) as caught:
        checked(Summary(summary, keywords), "A long answer about other things.", None, LIMITS)

    assert caught.value.where == where


def test_keywords_are_kept_in_nfc_once_each_in_their_first_spelling() -> None:
    given_ = Summary(
        normalize("NFD", "é"), ["Email", "EMAIL", normalize("NFD", "이메일"), "이메일", " a "]
    )

    made = checked(given_, "A long answer about other things.", None, LIMITS)

    assert made == Summary("é", ("Email", "이메일", "a"))
