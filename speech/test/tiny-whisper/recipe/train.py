"""Trains the model: `train.py WORK_FOLDER MINUTES OUT [--from CHECKPOINT] [--rate 0.002] [--full 0.35]`.

Three goals at once: the right tokens, the right phonemes in every frame, and attention of two heads of each
layer on the sound of the token (of the last layer on the token itself, of the first on the next one)."""

import argparse
import math
import pickle
import random
import time
from pathlib import Path

import torch
from torch.nn import functional

from model import PHONEMES, Model
from tokens import PIECES, VOCABULARY
from windows import Windows

GUIDED_HEADS = 2
REPORT_STEPS = 50
MARKS = [VOCABULARY["."], VOCABULARY["?"]]


def losses(model, mel, given, due, look, looks, phonemes, first_frame):
    states, encoded = model.encoder(mel, first_frame)
    logits, scores = model.decoder(given, states)

    wrong = functional.cross_entropy(
        logits.flatten(0, 1), due.flatten(), ignore_index=-100, label_smoothing=0.03, reduction="none"
    )
    # What follows a mark, the end or another sentence, is decided seldom and matters much.
    after_mark = sum((given == mark).float() for mark in MARKS)
    weight = ((due >= 0).float() * (1 + 4 * after_mark)).flatten()
    tokens_loss = (wrong * weight).sum() / weight.sum()

    def looks_elsewhere(layer_scores, target, counts):
        log_attention = torch.log_softmax(layer_scores[:, :GUIDED_HEADS], -1)
        off = -(log_attention * target[:, None]).sum(-1)
        return (off * counts[:, None]).sum() / (counts.sum() * GUIDED_HEADS + 1e-6)

    has_next = looks[:, :-1] * (due[:, 1:] >= 0).float()
    attention_loss = looks_elsewhere(scores[-1], look, looks)
    attention_loss = attention_loss + looks_elsewhere(scores[0][:, :, 1:], look[:, :-1], has_next)

    phonemes_loss = functional.cross_entropy(model.encoder.phonemes(encoded).flatten(0, 1), phonemes.flatten())
    right = ((logits.argmax(-1) == due) & (due >= 0)).sum() / (due >= 0).sum()
    return tokens_loss, attention_loss, phonemes_loss, right


def optimizer_of(model):
    matrices = [each for each in model.parameters() if each.ndim >= 2]
    vectors = [each for each in model.parameters() if each.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.02}, {"params": vectors, "weight_decay": 0}]
    return torch.optim.AdamW(groups, betas=(0.9, 0.98))


def learning_rate(highest, done):
    """Rises over the first 6 %, then falls as a cosine."""
    if done < 0.06:
        return highest * done / 0.06
    return highest * (0.505 + 0.5 * math.cos(math.pi * (done - 0.06) / 0.94))


def train(model, batches, minutes, rate):
    optimizer = optimizer_of(model)
    started = time.time()
    sums, step = torch.zeros(4), 0
    while (done := (time.time() - started) / (minutes * 60)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(rate, done)
        tokens_loss, attention_loss, phonemes_loss, right = losses(model, *next(batches))
        phonemes_weight = 1.5 if done < 0.25 else 0.5
        (tokens_loss + 0.4 * attention_loss + phonemes_weight * phonemes_loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        sums += torch.stack([tokens_loss, attention_loss, phonemes_loss, right]).detach()
        step += 1
        if step % REPORT_STEPS == 0:
            print(step, "tokens, attention, phonemes, right:", (sums / REPORT_STEPS).tolist(), flush=True)
            sums.zero_()
    print(f"{step} steps")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("minutes", type=float)
    parser.add_argument("out", type=Path)
    parser.add_argument("--from", dest="checkpoint", type=Path)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--full", type=float, default=0.35, help="share of whole windows")
    options = parser.parse_args()

    torch.set_num_threads(2)
    with open(options.folder / "speech.pickle", "rb") as file:
        clips = [clip for clip in pickle.load(file) if clip["split"] == "train"]
    phonemes = sorted({each for clip in clips for _, each in clip["phonemes"]} - {"_", "_:"})
    assert len(phonemes) < PHONEMES
    numbers = {phoneme: number for number, phoneme in enumerate(phonemes, 1)}

    random.seed(1)
    model = Model(len(PIECES))
    if options.checkpoint:
        model.load_state_dict(torch.load(options.checkpoint))
    windows = Windows(clips, numbers, options.full)
    loader = torch.utils.data.DataLoader(windows, batch_size=None, num_workers=1, prefetch_factor=6)
    train(model, iter(loader), options.minutes, options.rate)
    torch.save(model.state_dict(), options.out)


if __name__ == "__main__":
    main()
