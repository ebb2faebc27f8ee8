"""Room 2: words, folding, bigrams and stems: the one tokenizer of every store and language.

`terms` says what a document is indexed by, `query` what a query asks for, and `matches` when the
one finds the other.
"""

from memoranda.text.breaks import MAX_WORD, fold, words
from memoranda.text.queries import MAX_QUERY_WORDS, Query, QueryWord, matches, query
from memoranda.text.tokens import TOKENIZER, Terms, speaker_of, terms, terms_of, texts

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
