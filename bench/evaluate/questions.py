"""Questions whose answers are known, about texts: conversations, pairs, plain texts, short facts.

LoCoMo: a text is one turn, ``Speaker: text [image: caption]``. A question is asked inside its
conversation, at the time of its last session. Questions of category 5 have no answer in the
conversation and are left out. An evidence may hold several turns (``D8:6; D9:17``); what names no
turn is passed over, and a question that is left with none is skipped and counted.

Pairs: CSV with a header; the columns are called ``Q`` and ``A``, ``question`` and ``answer``, or
are the first two. An answer that several questions have is one text; a question that stands in
several lines has several answers. Answers are independent: none stands beside another.

Plain texts: the paragraphs of pages in Markdown. A question is a heading of three words or more,
and the paragraphs below it, up to the next heading, answer it.

Short facts: ours, in two languages and one scope, in `data`; a question without a fact has no
answer. A third of all questions, by a digest of their text, is kept away from tuning (`is_kept`).
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from memoranda.errors import InvalidJson
from memoranda.formats import decode


@dataclass(frozen=True, slots=True)
class Text:
    """A text, when it was said, and which conversation it is a part of, if of any."""

    id: str
    text: str
    created_at: int = 0
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its kind, and the ids of the texts that answer it: none, if nothing does."""

    text: str
    category: str
    evidence: frozenset[str]
    asked_at: int | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts of one scope, in their order in time, and the questions about them."""

    name: str
    texts: Sequence[Text]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Questions:
    """All collections of a file; the categories in the order in which they are shown."""

    collections: Sequence[Collection]
    categories: Sequence[str]
    skipped: int = 0
    """Questions without any text that answers them: they are not scored."""


def is_kept(question: Question) -> bool:
    """Whether a question is kept away from tuning: one in three, by its text alone."""
    return sha256(question.text.encode()).digest()[0] % 3 == 0


def thinned(questions: Questions, every: int) -> Questions:
    """The same texts, and one question in so many."""
    collections = [
        Collection(one.name, one.texts, one.questions[::every]) for one in questions.collections
    ]
    return Questions(collections, questions.categories, questions.skipped)


# ------------------------------------------------------------------------ conversations

CATEGORIES: Final = {4: "single-hop", 1: "multi-hop", 2: "temporal", 3: "open-domain"}
_UNANSWERABLE: Final = 5
_SESSION: Final = re.compile(r"session_(\d+)")
_TURN: Final = re.compile(r"D\d+:\d+")
_SECOND: Final = 1_000
"""The file says when a session began, not when a turn was: they are put a second apart."""


def read_locomo(document: bytes) -> Questions:
    """The conversations of a file, or InvalidJson where it is no such file."""
    found = decode(document)
    if not isinstance(found, list):
        raise InvalidJson("$", "a list of conversations is expected")
    collections = []
    skipped = 0
    for number, sample in enumerate(found):
        try:
            one, without = _collection(sample, f"conversation {number + 1}")
        except (KeyError, TypeError, ValueError, AttributeError) as wrong:
            raise InvalidJson(f"$[{number}]", f"no conversation of LoCoMo ({wrong!r})") from wrong
        collections.append(one)
        skipped += without
    return Questions(collections, tuple(CATEGORIES.values()), skipped)


def _collection(sample: Mapping[str, Any], name: str) -> tuple[Collection, int]:
    name = str(sample.get("sample_id", name))
    texts = list(_texts(sample["conversation"], name))
    ids = frozenset(one.id for one in texts)
    asked_at = max((one.created_at for one in texts), default=None)
    questions, skipped = [], 0
    for one in sample["qa"]:
        if one["category"] == _UNANSWERABLE:
            continue
        turns = (turn for said in one["evidence"] for turn in _TURN.findall(said))
        if evidence := frozenset(turns) & ids:
            category = CATEGORIES[one["category"]]
            questions.append(Question(one["question"], category, evidence, asked_at))
        else:
            skipped += 1
    return Collection(name, texts, questions), skipped


def _texts(conversation: Mapping[str, Any], name: str) -> Iterable[Text]:
    numbers = sorted(
        int(found[1])
        for key, value in conversation.items()
        if (found := _SESSION.fullmatch(key)) and isinstance(value, list)
    )
    for number in numbers:
        began = conversation[f"session_{number}_date_time"]
        start = int(datetime.strptime(f"{began} +0000", "%I:%M %p on %d %B, %Y %z").timestamp())
        for place, turn in enumerate(conversation[f"session_{number}"]):
            yield Text(turn["dia_id"], _text(turn), (start + place) * _SECOND, thread=name)


def _text(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    image = f" [image: {caption}]" if caption else ""
    return f"{turn['speaker']}: {turn['text']}{image}"


def without(questions: Questions, *left_out: str) -> Questions:
    """The same conversations as somebody remembers them who leaves out thread, speaker or time."""

    def told(text: Text) -> Text:
        said = text.text.partition(": ")[2] if "speaker" in left_out else text.text
        thread = None if "thread" in left_out else text.thread
        return Text(text.id, said, 0 if "time" in left_out else text.created_at, thread)

    return Questions(
        [
            Collection(one.name, list(map(told, one.texts)), one.questions)
            for one in questions.collections
        ],
        (),
        questions.skipped,
    )


# -------------------------------------------------------------------------------- pairs

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


# -------------------------------------------------------------------------- plain texts

PLAIN: Final = "plain texts"
_CODE: Final = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_SHORTEST: Final = 60
_FEWEST_WORDS: Final = 3


def read_pages(folder: Path) -> Questions:
    """The pages of a folder, cut into paragraphs, and their headings."""
    texts: list[Text] = []
    evidence: dict[str, set[str]] = {}
    for page in sorted(folder.glob("*.md")):
        heading = ""
        for block in _CODE.sub("", page.read_text("utf-8")).split("\n\n"):
            paragraph = block.strip()
            if paragraph.startswith("#"):
                heading = paragraph.partition("\n")[0].lstrip("# ")
            elif len(paragraph) >= _SHORTEST and not paragraph.startswith("|"):
                texts.append(Text(str(len(texts)), paragraph))
                if len(heading.split()) >= _FEWEST_WORDS:
                    evidence.setdefault(heading, set()).add(texts[-1].id)
    questions = [Question(text, PLAIN, frozenset(ids)) for text, ids in evidence.items()]
    return Questions([Collection(PLAIN, texts, questions)], (PLAIN,))


# -------------------------------------------------------------------------- short facts

FACTS: Final = Path(__file__).parent / "data"
LANGUAGES: Final = {"en": "English", "ko": "Korean"}


def read_facts(folder: Path = FACTS) -> Questions:
    """The short facts of both languages, in one collection."""
    ids: dict[str, str] = {}
    questions: list[Question] = []
    for language, name in LANGUAGES.items():
        for fact in (folder / f"facts-{language}.txt").read_text("utf-8").splitlines():
            ids.setdefault(fact, str(len(ids)))
        with (folder / f"questions-{language}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                wanted = {ids[row["expected"]]} if row["expected"] else ()
                questions.append(Question(row["question"], name, frozenset(wanted)))
    texts = [Text(id, fact) for fact, id in ids.items()]
    return Questions([Collection("facts", texts, questions)], tuple(LANGUAGES.values()))
