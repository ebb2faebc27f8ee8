"""What is kept of a turn: a deterministic extract, short, found again, never the response."""

from typing import Any
from unicodedata import is_normalized, normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidItem
from memoranda.plans.extractive import extract
from memoranda.plans.items import match
from memoranda.plans.raw import Whole
from memoranda.plans.summary import Limits, Summary, checked
from memoranda.text import fold

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
    assert made is not None
    assert checked(made, response, text, limits) == Summary(made.summary, tuple(made.keywords))
    return made


# --------------------------------------------------------------------------- examples


def test_an_english_answer_is_kept_by_its_best_sentences_in_their_order() -> None:
    made = kept(ENGLISH, "How should I reach the customer?")

    assert made.summary == (
        "The customer prefers email over phone calls. Dr. Kim noted in March that calls before"
        " 10 am go unanswered."
    )
    assert made.keywords[0] == "Kim"
    assert {"call", "customer", "email"} <= set(made.keywords)


def test_a_korean_answer_is_kept_by_its_best_sentences_and_nouns_without_particles() -> None:
    made = kept(KOREAN, "고객에게 어떻게 연락할까요?")

    assert made.summary == (
        "고객은 전화보다 이메일을 선호합니다."
        " USB케이블은 다음 주 화요일에 도착합니다. 더 궁금한 점이 있으면 알려 주세요!"
    )
    assert made.keywords[:2] == ("화요일", "USB")
    assert {"전화", "고객", "이메일"} <= set(made.keywords)


@pytest.mark.parametrize(
    ("response", "text", "queries"),
    [
        (ENGLISH, None, ["does the CUSTOMER like e-mail?", "phone calls?", "who is Kim?"]),
        (KOREAN, None, ["이메일로 보냈나요?", "고객한테 뭐라고 하죠", "usb 왔어요?"]),
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
    ("response", "text"),
    [
        ("Paris.", "What is the capital of France?"),
        ("네.", "회의가 금요일인가요?"),
        ("Hello!", "hi"),
        ("Ok.", None),
        ("Sure, of course!", None),
        *((sign, None) for sign in ("👍", "…", ".", "→", "→ …", "(…)", "?!")),
    ],
)
def test_of_a_word_or_of_words_that_say_nothing_nothing_is_kept(
    response: str, text: str | None
) -> None:
    assert extract(response, text, LIMITS) is None


@pytest.mark.parametrize(
    ("response", "text", "summary"),
    [
        ("It is hunter2, as before.", "What's the wifi password?", "wifi, password → hunter2"),
        ("금요일 오후 3시입니다.", "회의는 언제인가요?", "회의 → 금요일, 3시"),
    ],
)
def test_an_answer_that_names_nothing_of_what_was_asked_stands_behind_it(
    response: str, text: str, summary: str
) -> None:
    assert kept(response, text).summary == summary


def test_it_does_not_stand_behind_words_whose_sentence_is_left_out() -> None:
    response = (
        "The mechanic looked at your bike in the workshop for quite a while this morning."
        " Jo Park has an appointment on Friday at 15:00."
    )

    made = kept(response, "mechanic?", Limits(max_length=60))

    assert made.summary == "Jo Park has an appointment on Friday at 15:00."
    assert match(made.keywords, "who is the mechanic?").in_all == 0


@pytest.mark.parametrize(
    ("response", "moments"),
    [
        ("The fair starts on 2027-03-01 and the doors open at 15:00, they said.", 2),
        ("행사는 2027-03-01부터이고 문은 15:00에 엽니다. 꼭 오세요, 재미있을 거예요.", 2),
        ("The log says 2027-03-01T15:00:07Z for the first failure, more or less.", 2),
        ("Call on 1/3/2027 between 9:30-10:15 or write to us in the evening instead.", 3),
    ],
)
def test_a_date_or_a_time_is_one_keyword(response: str, moments: int) -> None:
    made = kept(response)

    found = [one for one in made.keywords if one[0].isdigit()]
    assert len(found) == moments
    assert not [one for one in found if one.isdigit()]
    assert not match(made.keywords, "2003, 100 and 27").in_all


def test_a_sentence_with_names_numbers_or_dates_is_preferred() -> None:
    response = (
        "It went through the usual steps without any trouble."
        " Invoice 48213 is due on 2027-03-01."
        " Everything else remains exactly as it was before."
    )

    assert kept(response, limits=Limits(max_length=60)).summary == (
        "Invoice 48213 is due on 2027-03-01."
    )


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
    assert extract(response, text, limits) == extract(response, text, limits)
    if extract(response, text, limits) is None:
        return

    made = kept(response, text, limits)

    assert 0 < len(made.summary) <= length
    assert len(made.keywords) <= keywords
    assert not Whole(response).is_in(made.summary)
    assert not any(Whole(response).is_in(keyword) for keyword in made.keywords)
    assert all(keyword.strip() and is_normalized("NFC", keyword) for keyword in made.keywords)
    assert len({fold(keyword) for keyword in made.keywords}) == len(made.keywords)
    assert all(fold(keyword) in fold(made.summary) for keyword in made.keywords)


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


MANY = [
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot"),
    *("golf", "hotel", "india", "juliet", "kilo", "lima"),
]
LOOK_ALIKES = str.maketrans("aeopcxy", "\u0430\u0435\u043e\u0440\u0441\u0445\u0443")
ANSWER = "The customer prefers email. Calls go unanswered before ten. Invoices go to billing."


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    "summary",
    [
        "Invoices go to billing. Calls go unanswered before ten. The customer prefers email.",
        ANSWER.removesuffix(" billing."),
        ANSWER.replace(" ", " x "),
        ANSWER.translate(LOOK_ALIKES),
        ANSWER.replace("e", "\u00e9"),
        " ".join(reversed(ANSWER.split())),
    ],
    ids=["swapped", "last word", "between", "look-alikes", "accents", "backwards"],
)
def test_a_summary_that_is_the_response_with_little_changed_is_refused(summary: str) -> None:
    with pytest.raises(InvalidItem):
        checked(Summary(summary, ["email"]), ANSWER, None, LIMITS)


@pytest.mark.rule("ING-RAW")
@pytest.mark.parametrize(
    ("response", "summary"),
    [
        (
            "고객은 전화보다 이메일을 선호합니다. 청구서는 매월 보냅니다.",
            "청구서를 매월 보냅니다, 고객이 전화보다 이메일로 선호합니다",
        ),
        ("我昨天在北京买了一台新电脑", "北京我昨天在买了一台新电"),
    ],
)
def test_so_it_is_in_other_languages(response: str, summary: str) -> None:
    with pytest.raises(InvalidItem):
        checked(Summary(summary, []), response, None, LIMITS)


@pytest.mark.rule("ING-RAW")
@given(
    response=st.lists(st.sampled_from(MANY), min_size=5, max_size=40),
    data=st.data(),
    more=st.lists(st.sampled_from(["x", "y", "zulu"]), max_size=20),
)
def test_four_fifths_of_the_words_in_whatever_order_are_the_response(
    response: list[str], data: st.DataObject, more: list[str]
) -> None:
    words = data.draw(st.permutations(response))[len(response) // 5 :]
    split = data.draw(st.integers(0, len(words)))
    words = [one.translate(LOOK_ALIKES) if n % 2 else one.upper() for n, one in enumerate(words)]
    shuffled = data.draw(st.permutations([*words[:split], *more]))
    limits = Limits(2_000, 32)

    with pytest.raises(InvalidItem):
        checked(
            Summary(" ".join(shuffled) or "y", [" ".join(words[split:]) or "y"]),
            " ".join(response),
            None,
            limits,
        )


@pytest.mark.rule("ING-RAW")
@given(response=st.permutations(MANY), data=st.data())
def test_two_thirds_of_the_words_are_a_summary(response: list[str], data: st.DataObject) -> None:
    words = data.draw(st.permutations(response))[: len(response) * 2 // 3]

    checked(Summary(" ".join(words), words[:8]), " ".join(response), None, LIMITS)


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
