"""Room 2: words, folding, bigrams and stems: the one tokenizer of every store and language.

`terms` says what a document is indexed by, `query` what a query asks for, and `matches` when the
one finds the other.
"""

from memoranda.text.breaks import MAX_WORD, words
from memoranda.text.folding import fold
from memoranda.text.queries import MAX_QUERY_WORDS, Query, QueryWord, matches, query
from memoranda.text.speakers import speaker_of
from memoranda.text.tokens import Terms, terms, terms_of
from memoranda.text.values import texts
from memoranda.text.version import TOKENIZER

__all__ = [
    "MAX_QUERY_WORDS",
    "MAX_WORD",
    "TOKENIZER",
    "Query",
    "QueryWord",
    "Terms",
    "fold",
    "matches",
    "query",
    "speaker_of",
    "terms",
    "terms_of",
    "texts",
    "words",
]
