"""Training examples: windows of sound with sentences in them, the tokens said and when."""

import random
import time

import numpy as np
import torch
from scipy.signal import fftconvolve

from features import MEL_BINS, SAMPLE_RATE, log_mel, normalised
from sentences import LANGUAGES
from sounds import nobody_speaks, noise
from tokens import PIECES, VOCABULARY, encode, split_words

WINDOW_SAMPLES = 160_000
#: Most examples are shorter, which is faster; their place in the window is drawn by chance.
SHORT_SAMPLES = 72_000
FRAME_SAMPLES = 320
FRAMES_PER_SECOND = SAMPLE_RATE // FRAME_SAMPLES
END = VOCABULARY["<|endoftext|>"]
NO_SPEECH = VOCABULARY["<|nospeech|>"]
LANGUAGE_TOKENS = {language: VOCABULARY[f"<|{language}|>"] for language in LANGUAGES}
PROMPT_TOKENS = 4
#: Where the end of the text looks: a little sound after the last word.
MARK_SECONDS = 0.12
END_SECONDS = 0.16


def timed_tokens(words):
    """(token, start, end): tokens share their word's time by their letters; marks follow it."""
    timed = []
    for word, start, end, _ in words:
        spelled, *marks = split_words(word)
        tokens = encode(spelled)
        letters = [max(1, len(PIECES[token].replace("Ġ", ""))) for token in tokens]
        done = 0
        for token, count in zip(tokens, letters):
            from_share, done = done / sum(letters), done + count
            to_share = done / sum(letters)
            timed.append((token, start + (end - start) * from_share, start + (end - start) * to_share))
        timed += [(encode(mark)[0], end, end + MARK_SECONDS) for mark in marks]
    return timed


def length_of(clip):
    return int(clip["end"] * SAMPLE_RATE)


class Windows(torch.utils.data.IterableDataset):
    """Batches without end."""

    def __init__(self, clips, phoneme_numbers, full_share):
        self.clips = {
            language: [clip for clip in clips if clip["language"] == language] for language in LANGUAGES
        }
        self.phoneme_numbers = phoneme_numbers
        self.full_share = full_share

    def __iter__(self):
        torch.set_num_threads(1)
        seed = int(time.time())
        rng, choices = np.random.default_rng(seed), random.Random(seed)
        while True:
            full = choices.random() < self.full_share
            samples, size = (WINDOW_SAMPLES, 16) if full else (SHORT_SAMPLES, 32)
            spare = (WINDOW_SAMPLES - samples) // FRAME_SAMPLES
            examples = [self.example(samples, full, rng, choices) for _ in range(size)]
            yield (*batch(examples, samples, self.phoneme_numbers, rng), choices.randint(0, spare))

    def example(self, count, full, rng, choices):
        """(samples, timed tokens, timed phonemes, language or None)"""
        if rng.random() < 0.06:
            return nobody_speaks(count, rng), [], [], None
        language = choices.choice(LANGUAGES)
        clips = self.choose_clips(language, full, choices)
        return (*disturbed(*place(clips, count, rng, choices), rng), language)

    def choose_clips(self, language, full, choices):
        clips = [choices.choice(self.clips[language])]
        if full:
            clips += [choices.choice(self.clips[language]) for _ in range(choices.choice([0, 1, 1, 1, 2, 2]))]
            if len(clips) > 1 and choices.random() < 0.6:
                some = choices.sample(self.clips[language], min(60, len(self.clips[language])))
                same_voice = [clip for clip in some if clip["voice"] == clips[0]["voice"]]
                clips[1] = (same_voice or clips[1:])[0]
        return clips


def place(clips, count, rng, choices):
    """Puts as many clips as fit into a window, one after the other; returns the times of tokens and phonemes."""
    placed, used = [], 0
    for index, clip in enumerate(clips):
        gap = choices.uniform(0, 0.6) if index == 0 else choices.uniform(0.1, 0.7)
        length = int(gap * SAMPLE_RATE) + length_of(clip)
        if used + length + int(0.15 * SAMPLE_RATE) > count:
            if not placed:
                room = (count - length_of(clip)) / SAMPLE_RATE - 0.15
                placed.append((max(0, room) * choices.random(), clip))
            break
        placed.append((gap, clip))
        used += length
    slack = max(0, count - sum(length_of(clip) + int(gap * SAMPLE_RATE) for gap, clip in placed) - 3_200)
    at = int(choices.random() * slack) if choices.random() < 0.5 else 0

    samples, tokens, phonemes = np.zeros(count), [], []
    for gap, clip in placed:
        at += int(gap * SAMPLE_RATE)
        sound = clip["samples"][: count - at] / 32_768 * 10 ** (rng.uniform(-3, 3) / 20)
        samples[at : at + len(sound)] += sound
        start = at / SAMPLE_RATE
        tokens += [(token, start + a, start + b) for token, a, b in timed_tokens(clip["words"])]
        phonemes += [(start + seconds, phoneme) for seconds, phoneme in clip["phonemes"]]
        at += length_of(clip)
    return samples, tokens, phonemes


def disturbed(samples, tokens, phonemes, rng):
    """Echo, another loudness, noise."""
    count = len(samples)
    if rng.random() < 0.25:
        length = int(rng.uniform(0.05, 0.3) * SAMPLE_RATE)
        decay = np.exp(-np.arange(length) / (length / rng.uniform(4, 7)))
        echo = rng.standard_normal(length) * decay * rng.uniform(0.02, 0.12)
        echo[0] = 1
        samples = fftconvolve(samples, echo)[:count]
    samples = samples * 10 ** (rng.uniform(-22, 0) / 20)
    if rng.random() < 0.6:
        samples = samples + noise(count, rng) * (np.std(samples) + 1e-6) * 10 ** (-rng.uniform(6, 45) / 20)
    elif rng.random() < 0.5:
        samples = samples + rng.standard_normal(count) * 10 ** rng.uniform(-5, -3.3)
    return samples, tokens, phonemes


def masked(log_mels, rng):
    """Another timbre, and stripes taken out of time and frequency."""
    for each in log_mels:
        if rng.random() < 0.6:
            bends = np.interp(np.arange(MEL_BINS), np.linspace(0, MEL_BINS - 1, 5), rng.uniform(-0.7, 0.7, 5))
            each += torch.tensor(bends, dtype=torch.float32)[:, None]
    mels = normalised(log_mels)
    for each in mels:
        if rng.random() < 0.35:
            first = rng.integers(0, 70)
            each[first : first + rng.integers(2, 11)] = each.mean()
        if rng.random() < 0.3:
            first = rng.integers(0, each.shape[1] - 10)
            each[:, first : first + rng.integers(2, 9)] = each.min()
    return mels


def batch(examples, samples, phoneme_numbers, rng):
    """(mel, tokens in, tokens out, where to look, which tokens look anywhere, phonemes); −100: not due."""
    frames = samples // FRAME_SAMPLES
    sounds = np.stack([example[0] for example in examples])
    mels = masked(log_mel(torch.tensor(sounds, dtype=torch.float32)), rng)
    size = len(examples)
    longest = max(len(tokens) for _, tokens, _, _ in examples) + PROMPT_TOKENS + 1
    given = torch.full((size, longest), END)
    due = torch.full((size, longest), -100)
    look = torch.zeros(size, longest, frames)
    looks = torch.zeros(size, longest)
    phonemes = torch.zeros(size, frames, dtype=torch.long)
    for row, (_, tokens, timed_phonemes, language) in enumerate(examples):
        prompt = [
            VOCABULARY["<|startoftranscript|>"],
            LANGUAGE_TOKENS[language or random.choice(LANGUAGES)],
            VOCABULARY["<|transcribe|>"],
            VOCABULARY["<|notimestamps|>"],
        ]
        text = torch.tensor([*prompt, *(token for token, _, _ in tokens), END])
        given[row, : len(text) - 1] = text[:-1]
        due[row, : len(text) - 1] = text[1:]
        due[row, 1] = -100
        if language is None:
            due[row, 0] = NO_SPEECH
        last = [(END, tokens[-1][2], tokens[-1][2] + END_SECONDS)] if tokens else []
        for step, (_, start, end) in enumerate([*tokens, *last], PROMPT_TOKENS - 1):
            first = min(round(start * FRAMES_PER_SECOND), frames - 2)
            after = min(max(round(end * FRAMES_PER_SECOND), first + 2), frames)
            look[row, step, first:after] = 1 / (after - first)
            looks[row, step] = 1
        for (start, phoneme), (end, _) in zip(timed_phonemes, timed_phonemes[1:]):
            span = slice(round(start * FRAMES_PER_SECOND), round(end * FRAMES_PER_SECOND))
            phonemes[row, span] = phoneme_numbers.get(phoneme, 0)
    return mels, given, due, look, looks, phonemes
