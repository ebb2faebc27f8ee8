"""Language models that answer a plan, and embedders: shipped ones, and the ports of your own."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.outside.embedders import (
        EmbeddingsEndpoint,
        LocalModel,
        default_embedder,
        embedder_from_environment,
        thorough_embedder,
    )
    from memoranda.outside.models.chat import ChatModel
    from memoranda.outside.models.scripted import ScriptedAnswer, ScriptedModel, scripted
    from memoranda.plans.facts import (
        ChatMessage,
        ExtractedFact,
        FactExtractor,
        ModelExtractor,
    )
    from memoranda.plans.models import Identified, Model, Prompt, Settings
    from memoranda.plans.spoken import SpokenFacts
    from memoranda.recall.embedder import Embedder, embedded, stored_as
    from memoranda.recall.vectors import similarities

__all__ = [
    "ChatMessage",
    "ChatModel",
    "Embedder",
    "EmbeddingsEndpoint",
    "ExtractedFact",
    "FactExtractor",
    "Identified",
    "LocalModel",
    "Model",
    "ModelExtractor",
    "Prompt",
    "ScriptedAnswer",
    "ScriptedModel",
    "Settings",
    "SpokenFacts",
    "default_embedder",
    "embedded",
    "embedder_from_environment",
    "scripted",
    "similarities",
    "stored_as",
    "thorough_embedder",
]

__getattr__, __dir__ = lazy_names(__name__)
