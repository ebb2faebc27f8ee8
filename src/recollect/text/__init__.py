"""Room 2: words, folding, bigrams and stems: the one tokenizer of every store and language."""
