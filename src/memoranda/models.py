"""Language models that answer a plan, and embedders: shipped ones, and the ports of your own."""

from memoranda.outside.embedders import EmbeddingsEndpoint, LocalModel, embedder_from_environment
from memoranda.outside.models.chat import ChatModel
from memoranda.outside.models.scripted import ScriptedAnswer, ScriptedModel, scripted
from memoranda.plans.models import Identified, Model, Prompt, Settings
from memoranda.recall.embedder import Embedder, embedded, stored_as
from memoranda.recall.similarity import similarities

__all__ = [
    "ChatModel",
    "Embedder",
    "EmbeddingsEndpoint",
    "Identified",
    "LocalModel",
    "Model",
    "Prompt",
    "ScriptedAnswer",
    "ScriptedModel",
    "Settings",
    "embedded",
    "embedder_from_environment",
    "scripted",
    "similarities",
    "stored_as",
]
