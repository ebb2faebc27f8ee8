"""Questions and answers, a line each: a question is to find its answer among all answers.

CSV with a header; the columns are called ``Q`` and ``A``, ``question`` and ``answer``, or are the
first two. An answer that several questions have is one text; a question that stands in several
lines has several answers. Answers are independent: none stands beside another.
"""

import csv
import io
from collections.abc import Sequence
from typing import Final

from memoranda.journeys.evaluate.questions import Collection, Question, Questions, Text
from memoranda.kernel.errors import InvalidJson

CATEGORY: Final = "pairs"
_COLUMNS: Final = 2
_NAMES: Final = (("q", "a"), ("question", "answer"))


def read_pairs(document: bytes) -> Questions:
    """The pairs of a file, or InvalidJson where a line has no two columns."""
    try:
        rows = list(csv.reader(io.StringIO(document.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as wrong:
        raise InvalidJson("line 1", f"it is not CSV in UTF-8 ({wrong})") from wrong
    if not rows:
        raise InvalidJson("line 1", "a header with two columns is expected")
    asked, answered = _columns(rows[0])
    answers: dict[str, str] = {}
    evidence: dict[str, set[str]] = {}
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) <= max(asked, answered):
            raise InvalidJson(f"line {number}", "it has no question and answer")
        answer = answers.setdefault(row[answered], str(len(answers)))
        evidence.setdefault(row[asked], set()).add(answer)
    texts = [Text(id, text) for text, id in answers.items()]
    questions = [Question(text, CATEGORY, frozenset(ids)) for text, ids in evidence.items()]
    return Questions([Collection(CATEGORY, texts, questions)], (CATEGORY,))


def _columns(header: Sequence[str]) -> tuple[int, int]:
    names = [name.strip().lower() for name in header]
    for asked, answered in _NAMES:
        if asked in names and answered in names:
            return names.index(asked), names.index(answered)
    if len(names) < _COLUMNS:
        raise InvalidJson("line 1", "a header with two columns is expected")
    return 0, 1
