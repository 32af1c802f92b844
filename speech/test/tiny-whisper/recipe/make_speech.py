"""Has espeak-ng speak 10,000 sentences for the training, and others by voices that are held out of it, with
the times of words and phonemes: `make_speech.py WORK_FOLDER [SENTENCES_PER_LANGUAGE]`.

Needs `speak_jobs` (see speak_jobs.c) in the folder; writes `speech.pickle` there."""

import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly

from sentences import CLOSED, LANGUAGES, UNSEEN, combine

VOICES = {
    "es": ["es", "es-419"],
    "pt": ["pt", "pt-br"],
    "en": ["en", "en-us", "en-us", "en-gb-scotland"],
    "fr": ["fr", "fr", "fr-be"],
}
HELD_OUT_VARIANTS = "f4 m5 m7 steph2 Michael linda pedro Hugo klatt3 edward2".split()
TRAINING_VARIANTS = [""] * 4 + (
    "Alex Alicia Andrea Andy Annie Denis Diogo Gene Gene2 Henrique Jacky Lee Marco Mario Mike Storm Tweaky "
    "adam anika antonio aunty belinda benjamin boris caleb croak david ed edward f1 f2 f3 f3 f5 f2 grandma "
    "grandpa gustave iven iven2 iven3 john klatt klatt2 klatt4 klatt5 f1 m1 m2 m3 m3 m4 m6 m8 marcelo max "
    "michel miguel norbert pablo paul quincy rob robert sandro shelby steph steph3 travis victor zac"
).split()
CLOSED_SHARE = 0.45


def jobs(per_language):
    """(split, language, voice, words per minute, pitch, range, sentence)"""
    rng = random.Random(1)
    unseen = {sentence for language in LANGUAGES for sentence in UNSEEN[language]}
    chosen = []
    for language in LANGUAGES:
        for _ in range(per_language):
            sentence = rng.choice(CLOSED[language])
            if rng.random() > CLOSED_SHARE:
                sentence = combine(language, rng)
                while sentence in unseen:
                    sentence = combine(language, rng)
            variant = rng.choice(TRAINING_VARIANTS)
            voice = rng.choice(VOICES[language]) + (f"+{variant}" if variant else "")
            manner = (rng.randint(115, 195), rng.randint(25, 75), rng.randint(30, 70))
            chosen.append(("train", language, voice, *manner, sentence))
        held_out = [("closed", sentence) for sentence in CLOSED[language] * 2]
        held_out += [("unseen", sentence) for sentence in UNSEEN[language]]
        for split, sentence in held_out:
            voice = f"{rng.choice(VOICES[language])}+{rng.choice(HELD_OUT_VARIANTS)}"
            chosen.append((split, language, voice, rng.randint(125, 180), rng.randint(35, 65), 50, sentence))
    rng.shuffle(chosen)
    return chosen


def speak(chosen, folder):
    """The sound and the events of each job."""
    lines = "".join("\t".join(map(str, job[2:])) + "\n" for job in chosen)
    sound, events = folder / "speech.pcm", folder / "speech.events"
    subprocess.run([folder / "speak_jobs", sound, events], input=lines.encode(), check=True)
    samples = np.memmap(sound, np.int16, "r")
    first, of_job = 0, []
    for line in events.read_text().splitlines():
        kind, *fields = line.split()
        if kind == "job":
            first, of_job = int(fields[0]), []
        elif kind != "done":
            of_job.append((kind, int(fields[0]) / 1000, fields[1] if len(fields) > 1 else "_"))
        elif fields[1] == "0":
            yield samples[first : first + int(fields[0])], of_job
        else:
            yield None, of_job


def word_times(sentence, events, end):
    """(word, start, end, whether the voice reported its start), seconds. Voices join small words and
    report when the first begins: the others take their share of the time by their letters."""
    words = sentence.split()
    starts = [None] * len(words)
    firsts = [sum(len(word) + 1 for word in words[:index]) + 1 for index in range(len(words))]
    for kind, seconds, what in events:
        if kind != "word":
            continue
        for index, first in enumerate(firsts):
            if first <= int(what) < first + len(words[index]) and starts[index] is None:
                starts[index] = seconds
    reported = [start is not None for start in starts]
    starts[0] = starts[0] if reported[0] else next((at for kind, at, _ in events if kind == "phoneme"), 0)
    for index in range(1, len(words)):
        if starts[index] is not None:
            continue
        after = next((later for later in range(index, len(words)) if starts[later] is not None), len(words))
        until = starts[after] if after < len(words) else end
        letters = len(words[index - 1]) / sum(len(word) for word in words[index - 1 : after])
        starts[index] = starts[index - 1] + (until - starts[index - 1]) * letters
    return list(zip(words, starts, [*starts[1:], end], reported))


def clip(job, samples, events):
    split, language, voice, *_, sentence = job
    phonemes = [(seconds, what) for kind, seconds, what in events if kind == "phoneme"]
    end = next((seconds for kind, seconds, _ in reversed(events) if kind == "end"), 0)
    while phonemes and phonemes[-1][1].startswith("_"):
        end = phonemes.pop()[0]
    resampled = resample_poly(samples.astype(np.float32), 320, 441)
    return {
        "split": split,
        "language": language,
        "voice": voice,
        "samples": np.clip(resampled, -32767, 32767).astype(np.int16),
        "words": word_times(sentence, events, end),
        "phonemes": [*phonemes, (end, "_")],
        "end": end,
    }


def main():
    folder = Path(sys.argv[1])
    chosen = jobs(int(sys.argv[2]) if len(sys.argv) > 2 else 2500)
    clips = [
        clip(job, *spoken) for job, spoken in zip(chosen, speak(chosen, folder)) if spoken[0] is not None
    ]
    with open(folder / "speech.pickle", "wb") as file:
        pickle.dump(clips, file, 4)
    seconds = sum(len(each["samples"]) for each in clips) / 16_000
    print(f"{len(clips)} of {len(chosen)} clips, {seconds / 60:.0f} minutes")


if __name__ == "__main__":
    main()
