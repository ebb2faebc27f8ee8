"""`python -m bench.evaluate fit`: the weights of `recall.scores`, from questions and answers.

The score of a record is a sum, so that exp(score) is proportional to the probability that it is the
one that was asked for (a conditional logit). Weights are those that make the records that answer
most probable, over the questions that are not kept away from tuning. Whether they hold is looked at
in both directions of a split of the conversations: fitted on the one part, measured on the other.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.evaluate.questions import Collection, Question, Questions, is_kept
from memoranda.models import Embedder, embedded
from memoranda.recall.corpus import Corpus, of_text
from memoranda.recall.figures import AT, Graded, figures
from memoranda.recall.meaning import words_of
from memoranda.recall.near_words import Vocabulary
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode
from memoranda.recall.scores import (
    NOTHING,
    NOTHING_IN_THREADS,
    AloneWeights,
    Evidence,
    ThreadWeights,
    alone,
    confidences,
    deviations,
    in_threads,
    nothing_among,
)

Numbers = NDArray[Any]

IN_CONVERSATION: Final = "locomo"
"""The set whose texts stand in threads."""

_RIDGE: Final = 1e-3
_ROUNDS: Final = 40
_ENOUGH: Final = 1e-6


class Candidates(NamedTuple):
    """What may be found for one question: the evidence of each record, and which of them answer."""

    question: Question
    documents: int
    """How many records there are."""
    ids: Sequence[str]
    evidence: Evidence
    right: Numbers


async def candidates(collection: Collection, embedder: Embedder | None) -> list[Candidates]:
    """The candidates of every question about a collection, as recall sees them."""
    corpus = Corpus(
        of_text(text.id, number, text.text, text.created_at, text.thread)
        for number, text in enumerate(collection.texts)
    )
    vocabulary = Vocabulary()
    vocabulary.add(corpus.tokens)
    vectors = None
    if embedder is not None:
        texts = [text.text for text in collection.texts]
        vectors = _matrix(await embedded(embedder, texts))
    found = []
    for question in collection.questions:
        wanted = asked(question.text, at=question.asked_at)
        alike = None
        if embedder is not None and vectors is not None:
            (vector,) = _matrix(await embedded(embedder, [question.text]))
            alike = AllNear(deviations(vectors @ vector))
        stand_ins = vocabulary.stand_ins(wanted, words_of(embedder))
        ranked = corpus.ranked(
            RankingMode.CONTEXT, wanted, AT[-1], stand_ins=stand_ins, alike=alike
        )
        ids = [collection.texts[at].id for at in ranked.seqs.tolist()]
        right = np.array([id in question.evidence for id in ids], float)
        found.append(Candidates(question, len(corpus), ids, ranked.evidence, right))
    return found


class AllNear:
    """How near each text is, all of them compared (`Nearness`)."""

    def __init__(self, near: Numbers) -> None:
        self._near = near

    def of(self, entries: Numbers) -> Numbers:
        found: Numbers = self._near[entries]
        return found

    def nearest(self, most: int) -> Numbers:
        near = np.flatnonzero(self._near)
        found: Numbers = near[np.lexsort((-near, -self._near[near]))[:most]]
        return found


def _matrix(vectors: Sequence[bytes]) -> Numbers:
    return np.array([np.frombuffer(vector, "<f4") for vector in vectors], np.float64)


def features(score: Callable[[Evidence, Any], Numbers], kind: Any, evidence: Evidence) -> Numbers:
    """The numbers that a score adds up, a column for each of its weights."""
    columns = []
    for name in kind._fields:
        only = kind(**{**dict.fromkeys(kind._fields, 0.0), name: 1.0})
        columns.append(score(evidence, only))
    return np.stack(columns, axis=1)


def fit(several: Sequence[tuple[Numbers, Numbers]]) -> Numbers:
    """The weights that make what is right most probable among its candidates."""
    groups = [(found, right / right.sum()) for found, right in several if right.sum() > 0]
    every = np.concatenate([found for found, _ in groups])
    mean, spread = every.mean(axis=0), every.std(axis=0) + 1e-9
    scaled = [((found - mean) / spread, right) for found, right in groups]
    weights = np.zeros(every.shape[1])
    loss = _loss(scaled, weights)
    for _ in range(_ROUNDS):
        slope, bend = _RIDGE * weights, _RIDGE * np.eye(len(weights))
        for found, right in scaled:
            shares = _shares(found @ weights)
            middle = shares @ found
            slope = slope + (middle - right @ found) / len(scaled)
            apart = found - middle
            bend = bend + (apart * shares[:, None]).T @ apart / len(scaled)
        step, size = np.linalg.solve(bend, slope), 1.0
        while _loss(scaled, weights - size * step) > loss and size > _ENOUGH:
            size /= 2
        weights = weights - size * step
        before, loss = loss, _loss(scaled, weights)
        if before - loss < _ENOUGH:
            break
    fitted: Numbers = weights / spread
    return fitted


def _shares(scores: Numbers) -> Numbers:
    found = np.exp(scores - scores.max())
    shares: Numbers = found / found.sum()
    return shares


def _loss(scaled: Sequence[tuple[Numbers, Numbers]], weights: Numbers) -> float:
    total = _RIDGE * float(weights @ weights) / 2
    for found, right in scaled:
        scores = found @ weights
        highest = scores.max()
        total += float(highest + np.log(np.exp(scores - highest).sum()) - right @ scores) / len(
            scaled
        )
    return total


def graded(
    several: Sequence[Candidates], score: Callable[[Evidence], Numbers], nothing: float
) -> list[Graded]:
    """What is found for each question with these scores."""
    found = []
    for one in several:
        scores = score(one.evidence)
        order = np.lexsort((-np.arange(len(scores)), -scores))[: AT[-1]]
        sure = confidences(scores, nothing_among(one.documents, nothing))
        ids = [one.ids[at] for at in order]
        found.append(Graded(one.question.evidence, ids, sure[order].tolist()))
    return found


async def fitted(sets: Mapping[str, Questions], embedder: Embedder | None) -> list[str]:
    """The weights, what they come to in both directions of a split, and on every set."""
    found = {
        name: [await candidates(one, embedder) for one in questions.collections]
        for name, questions in sets.items()
    }
    lines = []
    if IN_CONVERSATION in found:
        talks = found.pop(IN_CONVERSATION)
        middle = (len(talks) + 1) // 2
        first, second = _together(talks[:middle]), _together(talks[middle:])
        for name, learnt, other in (
            ("first part, measured on the second", first, second),
            ("second part, measured on the first", second, first),
            ("what is not kept away, measured on the rest", *_apart([*first, *second])),
        ):
            weights = _weights(in_threads, ThreadWeights, learnt)
            score = partial(in_threads, weights=weights)
            lines += [f"in threads, fitted on the {name}:", f"  {_shown(weights)}"]
            lines.append(f"  {figures(graded(other, score, NOTHING_IN_THREADS)).document()}")
        as_it_is = figures(graded([*first, *second], in_threads, NOTHING_IN_THREADS))
        lines.append(f"as it is: {as_it_is.document()}")
    parts = {name: _apart(_together(several)) for name, several in found.items()}
    if parts:
        for number, name in enumerate(("what is not kept away", "what is kept away")):
            learnt = [one for part in parts.values() for one in part[number]]
            lines.append(
                f"alone, fitted on {name}: {_shown(_weights(alone, AloneWeights, learnt))}"
            )
    for name, (learnt, kept) in parts.items():
        for part, some in (("development", learnt), ("kept away", kept)):
            lines.append(f"{name}, {part}: {figures(graded(some, alone, NOTHING)).document()}")
    return lines


def _weights(score: Callable[[Evidence, Any], Numbers], kind: Any, some: list[Candidates]) -> Any:
    found = fit([(features(score, kind, one.evidence), one.right) for one in some])
    return kind(*(round(float(weight), 2) for weight in found))


def _together(several: Sequence[list[Candidates]]) -> list[Candidates]:
    return [one for some in several for one in some]


def _apart(several: Sequence[Candidates]) -> tuple[list[Candidates], list[Candidates]]:
    kept = [one for one in several if is_kept(one.question)]
    return [one for one in several if not is_kept(one.question)], kept


def _shown(weights: Any) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in weights._asdict().items())
