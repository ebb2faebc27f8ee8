"""The question of most tests: whether a query finds a text."""

from hypothesis import strategies as st

from memoranda.testkit.strategies import texts
from memoranda.text import matches, query, terms

# Whatever is cut, folded, paired or stemmed in a way of its own, next to each other.
SYLLABLES = "고객은이가을를에게서는도물회의케블日本語東京犬がのべる食コーヒーสวัสดี"
LETTERS = (
    "aAbBzZéÉßẞñœŒÅåﬁﬀkKςΣжЖIi1²½.,:;'_-/@ ㅋㅠﾡ👍🏽❤🇰🇷"
    "\u00ad\u0301\u0308\u03c3\u1112\u1161\u11ab\u200b\u200d\u2019\ufe0f\uff12"
)


def mixed_texts(max_size: int = 40) -> st.SearchStrategy[str]:
    """Texts in which the rules of several scripts meet, and any text at all."""
    return st.one_of(
        st.text(st.sampled_from(SYLLABLES + LETTERS), max_size=max_size),
        st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
        texts(max_size),
    )


WORDS = [
    "고객은",
    "고객에게",
    "이메일을",
    "물을",
    "회의",
    "USB케이블을",
    "고객(VIP)은",
    "the",
    "Customers",
    "customer's",
    "don't",
    "running",
    "kim@example.com",
    "v2.10.3",
    "3.14",
    "1,000",
    "snake_case_2",
    "東京タワーに",
    "食べる",
    "straße",
    "STRASSE",
    "ｶﾞｲﾄﾞ",
    "ㅋㅋㅋ",
    "👍🏽",
]


def finds(asked: str, text: str, *, every: bool = True) -> bool:
    """Whether a query finds a text: by every one of its words, or by any."""
    return matches(query(asked), terms(text).counts, every=every)
