"""Language models that answer a plan: any OpenAI-compatible endpoint, and one that is scripted."""
