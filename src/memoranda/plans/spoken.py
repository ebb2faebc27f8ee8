"""The extractor that needs no model: what people say of themselves, sentence by sentence.

The same messages give the same facts, on every machine. It reads English and Korean, and only what
a person said (the role ``user``): a fact is a sentence as it was said, without the word or two that
lead into it. It takes, in this order of trust in the form:

1. answers to a question that has one: a name, a home, an employer, a birthday, an age, a favourite,
   a taste, an allergy (`text.likeness.answer_to`)
2. statements in the first person (*I have two dogs*, *my sister is a nurse*, 우리는 개를 키워요)
3. statements with a date (*The meeting is on 5 May*, 회의는 5월 3일이에요)

It leaves out questions, requests, wishes, guesses, thanks and the like: a list of openings. What is
said in other forms is not seen; a model sees more (`facts.ModelExtractor`).
"""

import re
from collections.abc import Sequence
from typing import Final

from memoranda.kernel.errors import InvalidOption
from memoranda.plans.facts import (
    MAX_FACT,
    MAX_FACTS,
    PERSON,
    ChatMessage,
    ExtractedFact,
    FactExtractor,
    ModelExtractor,
)
from memoranda.plans.models import Model
from memoranda.text import fold, words
from memoranda.text.breaks import sentences
from memoranda.text.likeness import answer_to

_FEWEST_WORDS: Final = 3
_QUESTION: Final = ("?", "\uff1f")
_KOREAN: Final = re.compile("[가-힣]")

_LEADS: Final = re.compile(
    r"^(?:(?:and|but|so|well|yes|yeah|yep|no|nope|oh|ah|ok|okay|sure|hi|hey|hello|actually|also|"
    r"anyway|now|then|thanks|thank you|by the way|btw|you know|to be honest|honestly|"
    r"remember that|remember|note that|don't forget that|"
    r"네|아니요|아니|음|아|그리고|그런데|근데|사실|참|안녕하세요|안녕)(?:\s*[,.!:;~-]+\s*|\s+))+",
    re.IGNORECASE,
)
_FIRST_PERSON: Final = re.compile(r"^(?:i|i'm|i've|i'd|i'll|im|ive|my|we|we're|we've|we'll|our)\b")
_NO_STATEMENT: Final = re.compile(
    r"^(?:i|we)(?: (?:just|really|also|do|did|still|only))? (?:think|thought|guess|hope|wonder|"
    r"wondered|suppose|bet|wish|doubt|mean|see|agree|understand|know|knew|don't know|do not know|"
    r"don't think|don't understand|can't believe|believe|feel like|remember|forgot|appreciate|"
    r"want you|need you|need help|need to know|ask|would like|would love|want to know|"
    r"want to ask|was wondering|can see|can imagine|have a question|have to say|must say|"
    r"could use|get it|got it|promise|swear|assume|imagine|told you|said|asked)\b"
    r"|^(?:i'd|we'd) (?:like|love|appreciate|prefer it if|rather you)\b"
    r"|^(?:i'm|i am|we're|we are|im) (?:sorry|glad|sure|not sure|afraid|happy to|here|looking for|"
    r"wondering|trying|asking|confused|curious|just|so glad|so sorry|so happy for|going to ask|"
    r"interested in knowing|thinking|guessing|kidding|joking|fine|good|ok|okay|back|listening)\b"
    r"|^(?:i'll|i will|we'll) (?:see|let you|try|check|think|be right|get back|take a look)\b"
    r"|^my (?:pleasure|bad|apologies|question|guess|point|god|goodness)\b"
    r"|^(?:i|we|my|our)\b.*\b(?:maybe|perhaps|probably|might|would have)\b"
)
_CALL_ME: Final = re.compile(r"^(?:please )?call me \w")
_DATE: Final = re.compile(
    r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
    r"|\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december)"
    r"|(?:january|february|march|april|may|june|july|august|september|october|november|december) "
    r"\d{1,2}(?:st|nd|rd|th)?)\b"
)
_STATES: Final = re.compile(
    r"\b(?:is|are|was|were|will be|takes place|starts|ends|begins|'s on|ends|moved to|falls on)\b"
)

_DATE_KO: Final = re.compile(r"\d{1,2}월 ?\d{1,2}일|\d{4}년|\d{4}-\d{2}-\d{2}")
_FIRST_PERSON_KO: Final = re.compile(
    r"^(?:저는|나는|난|전|저도|나도|제가|내가|저희는|우리는|저희가|우리가|제|내|저희|우리|저의|나의)\s"
)
_STATES_KO: Final = re.compile(r"(?:다|요|야|어|해|아|음|임|지|네|죠|래|함)$")
_NO_STATEMENT_KO: Final = re.compile(
    r"(?:까요|나요|가요|니까|을까|ㄹ까|주세요|줘|줘요|줄래|줄래요|싶은데요|궁금해요|궁금합니다|궁금해|"
    r"부탁해요|부탁합니다|부탁드립니다|부탁해|모르겠어요|모르겠습니다|모르겠어|같아요|같습니다|같아|"
    r"고마워요|고마워|감사합니다|감사해요|미안해요|미안해|죄송합니다|죄송해요|알겠습니다|알겠어요|알겠어|"
    r"하세요|십시오|할게요|할게|바랍니다|바라요)$"
)


class SpokenFacts:
    """Deterministic: sentences in which people tell of themselves, and those with a date."""

    async def extract(self, messages: Sequence[ChatMessage]) -> Sequence[ExtractedFact]:
        """The facts of what people said, in the order of the messages."""
        return [
            ExtractedFact(text, place)
            for place, message in enumerate(messages)
            if message.role == PERSON
            for text in spoken_facts(message.content)
        ]


def spoken_facts(content: str) -> list[str]:
    """The sentences of a text that state something of whoever says them, or with a date."""
    found = dict.fromkeys(
        text for sentence in sentences(content) if (text := _stated(sentence)) is not None
    )
    return list(found)[:MAX_FACTS]


def _stated(sentence: str) -> str | None:
    """A sentence without what leads into it, if it is a statement that is kept; else None."""
    text = _LEADS.sub("", sentence).strip()
    if len(text) > MAX_FACT or text.endswith(_QUESTION):
        return None
    said = fold(text).rstrip(" .!~。…")
    if answer_to(said) is not None or _CALL_ME.match(said):
        return text
    states = _in_korean if _KOREAN.search(text) else _in_english
    return text if states(said) else None


def _in_english(said: str) -> bool:
    if len(words(said)) < _FEWEST_WORDS:
        return False
    if _FIRST_PERSON.match(said):
        return _NO_STATEMENT.match(said) is None
    return _DATE.search(said) is not None and _STATES.search(said) is not None


def _in_korean(said: str) -> bool:
    if _NO_STATEMENT_KO.search(said) or not _STATES_KO.search(said):
        return False
    return bool(_FIRST_PERSON_KO.match(said) or _DATE_KO.search(said))


# ------------------------------------------------------------------------------------------------
# Whoever wants facts hands over an extractor, a model, or nothing: then these rules are used.

AnyExtractor = FactExtractor | Model
"""What finds facts: an extractor, or a model, which is asked for them."""


def extractor_of(given: AnyExtractor | None) -> FactExtractor:
    """The extractor that was meant; InvalidOption for what is none."""
    if given is None:
        return SpokenFacts()
    if isinstance(given, type) or not (hasattr(given, "extract") or hasattr(given, "complete")):
        why = "it is neither an extractor (extract) nor a model (complete)"
        raise InvalidOption("extractor", why)
    return given if isinstance(given, FactExtractor) else ModelExtractor(given)
