"""Noise under speech, and what nobody says: silence, hiss, hum, tones, clicks."""

import numpy as np
from scipy.signal import lfilter

from features import SAMPLE_RATE

#: A filter that makes white noise pink, to within a decibel.
PINK = (
    [0.049922035, -0.095993537, 0.050612699, -0.004408786],
    [1, -2.494956002, 2.017265875, -0.522189400],
)
CLICK_SAMPLES = 800


def noise(count, rng):
    """White, pink or dull, of deviation 1."""
    kind = rng.integers(3)
    white = rng.standard_normal(count + 500)
    if kind == 1:
        white = lfilter(*PINK, white)
    elif kind == 2:
        white = lfilter([1], [1, -0.9], white)
    samples = white[500:]
    return samples / (np.std(samples) + 1e-9)


def tones(count, rng):
    at = np.arange(count) / SAMPLE_RATE
    pitches = rng.uniform(60, 3000, rng.integers(1, 5))
    return sum(np.sin(2 * np.pi * hertz * at + rng.uniform(0, 6)) for hertz in pitches) * 10 ** rng.uniform(
        -3, -1
    )


def glide(count, rng):
    at = np.arange(count) / SAMPLE_RATE
    turns = rng.uniform(100, 2000) * at + rng.uniform(-300, 300) * at * at
    return np.sin(2 * np.pi * turns) * 10 ** rng.uniform(-2.5, -0.7)


def clicks(count, rng):
    samples = np.zeros(count)
    for first in rng.integers(0, max(1, count - CLICK_SAMPLES), rng.integers(1, 12)):
        length = min(CLICK_SAMPLES, count - first)
        decay = np.exp(-np.arange(length) / rng.uniform(20, 200))
        samples[first : first + length] += decay * rng.standard_normal(length) * 0.3
    return samples


def hum(count, rng):
    at = np.arange(count) / SAMPLE_RATE
    mains = sum(
        level * np.sin(2 * np.pi * 50 * times * at) for times, level in ((1, 0.05), (2, 0.03), (3, 0.02))
    )
    return mains + noise(count, rng) * 10 ** rng.uniform(-4, -2)


def nobody_speaks(count, rng):
    kind = rng.integers(6)
    if kind == 0:
        return np.zeros(count)
    if kind == 1:
        return noise(count, rng) * 10 ** rng.uniform(-4, -0.8)
    return [tones, glide, clicks, hum][kind - 2](count, rng)
