"""The files of LoCoMo: long conversations, with questions and the turns that answer them.

A text is one turn: ``Speaker: text [image: caption]``. A question is asked inside its
conversation, at the time of its last session. Questions of category 5 have no answer in the
conversation and are left out. An evidence may hold several turns (``D8:6; D9:17``); what names no
turn is passed over, and a question that is left with none is skipped and counted.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from memoranda.identity import decode
from memoranda.journeys.evaluate.questions import Collection, Question, Questions, Text
from memoranda.kernel.errors import InvalidJson

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
