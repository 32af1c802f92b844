"""The vocabulary: byte pairs in GPT-2's alphabet of bytes, learned from the sentences, 512 with Whisper's
special tokens."""

import random
from collections import Counter

from sentences import CLOSED, LANGUAGES, combine

MERGE_COUNT = 440
SPECIAL_TOKENS = [
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|es|>",
    "<|fr|>",
    "<|pt|>",
    "<|translate|>",
    "<|transcribe|>",
    "<|startoflm|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
]


def byte_alphabet():
    """A printable character for each byte: Latin-1 where it is printable, else U+0100 and up."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {
        **{byte: chr(byte) for byte in printable},
        **{byte: chr(256 + index) for index, byte in enumerate(others)},
    }


ALPHABET = byte_alphabet()


def written(text):
    return [ALPHABET[byte] for byte in text.encode()]


def split_words(sentence):
    """Words with the blank before them; a period or question mark is a separate word."""
    words = []
    for word in sentence.split():
        mark = word[-1] if word[-1] in ".?" else ""
        words.append(" " + word[: len(word) - len(mark)])
        if mark:
            words.append(mark)
    return words


def merge(pieces, pair):
    merged = []
    index = 0
    while index < len(pieces):
        if tuple(pieces[index : index + 2]) == pair:
            merged.append(pair[0] + pair[1])
            index += 2
        else:
            merged.append(pieces[index])
            index += 1
    return merged


def learn_merges():
    """The pairs that are joined, in order, and the alphabet that is in use."""
    rng = random.Random(5)
    counts = Counter()
    for language in LANGUAGES:
        for sentence in CLOSED[language] * 3 + [combine(language, rng) for _ in range(120)]:
            counts.update(split_words(sentence))
    words = {word: written(word) for word in counts}
    alphabet = sorted({piece for pieces in words.values() for piece in pieces})
    merges = []
    while len(merges) < MERGE_COUNT:
        pairs = Counter()
        for word, pieces in words.items():
            for pair in zip(pieces, pieces[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = max(pairs.items(), key=lambda item: (item[1], item[0]))[0]
        merges.append(best)
        words = {word: merge(pieces, best) for word, pieces in words.items()}
    return merges, alphabet


MERGES, _alphabet = learn_merges()
PIECES = [*_alphabet, *(first + second for first, second in MERGES), *SPECIAL_TOKENS]
VOCABULARY = {piece: number for number, piece in enumerate(PIECES)}


def encode(word):
    """Tokens of a word with the blank before it, or of a mark."""
    pieces = written(word)
    for pair in MERGES:
        pieces = merge(pieces, pair)
    return [VOCABULARY[piece] for piece in pieces]
