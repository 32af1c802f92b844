"""A convolutional encoder of 10 s windows and a small Whisper decoder: 2.0 M parameters."""

import math

import torch
from torch import nn
from torch.nn import functional

from features import MEL_BINS

WIDTH = 160
HIDDEN = 480
HEADS = 4
DECODER_LAYERS = 2
ENCODER_FRAMES = 500
MAX_TOKENS = 96
#: Enough for the phonemes of all four languages, distinguished only in training.
PHONEMES = 100


def sinusoids(length, width):
    step = math.log(10_000) / (width // 2 - 1)
    turns = torch.arange(length).float()[:, None] * torch.exp(-step * torch.arange(width // 2).float())[None]
    return torch.cat([turns.sin(), turns.cos()], 1)


class ConvolutionBlock(nn.Module):
    def __init__(self, dilation=1, gain=0.3, kernel=9):
        super().__init__()
        padding = kernel // 2 * dilation
        self.depthwise = nn.Conv1d(WIDTH, WIDTH, kernel, padding=padding, groups=WIDTH, dilation=dilation)
        self.norm = nn.LayerNorm(WIDTH)
        self.widen = nn.Linear(WIDTH, HIDDEN)
        self.narrow = nn.Linear(HIDDEN, WIDTH)
        self.gain = nn.Parameter(torch.ones(WIDTH) * gain)

    def forward(self, x):
        y = self.depthwise(x.transpose(1, 2)).transpose(1, 2)
        return x + self.gain * self.narrow(functional.relu(self.widen(self.norm(y))))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(MEL_BINS, WIDTH, 3, padding=1)
        self.second = nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.register_buffer("positions", sinusoids(ENCODER_FRAMES, WIDTH) * 0.3)
        blocks = [ConvolutionBlock() for _ in range(5)] + [ConvolutionBlock(dilation=8, gain=0.03)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(WIDTH)
        self.phonemes = nn.Linear(WIDTH, PHONEMES)

    def forward(self, mel, first_frame=0):
        """States for the decoder, and the same without their positions for `phonemes`."""
        x = functional.relu(self.second(functional.relu(self.first(mel)))).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return x + self.positions[first_frame : first_frame + x.shape[1]], x


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def heads(self, x):
        return x.view(x.shape[0], -1, HEADS, WIDTH // HEADS).transpose(1, 2)

    def keys_and_values(self, x):
        return self.heads(self.key(x)), self.heads(self.value(x))

    def forward(self, x, keys, values, mask=None):
        """Output, attention, and its scores before the softmax."""
        scores = (self.heads(self.query(x)) * keys.shape[-1] ** -0.5) @ keys.transpose(-1, -2)
        if mask is not None:
            scores = scores + mask
        attention = torch.softmax(scores, -1)
        mixed = (attention @ values).transpose(1, 2)
        return self.out(mixed.reshape(mixed.shape[0], -1, WIDTH)), attention, scores


class DecoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_norm = nn.LayerNorm(WIDTH)
        self.self_attention = Attention()
        self.cross_norm = nn.LayerNorm(WIDTH)
        self.cross_attention = Attention()
        self.norm = nn.LayerNorm(WIDTH)
        self.widen = nn.Linear(WIDTH, HIDDEN)
        self.narrow = nn.Linear(HIDDEN, WIDTH)

    def feed_forward(self, x):
        return self.narrow(functional.relu(self.widen(self.norm(x))))


class Decoder(nn.Module):
    def __init__(self, vocabulary_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, WIDTH)
        nn.init.normal_(self.embedding.weight, std=WIDTH**-0.5)
        self.positions = nn.Parameter(torch.randn(MAX_TOKENS, WIDTH) * 0.02)
        self.blocks = nn.ModuleList([DecoderBlock() for _ in range(DECODER_LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.dropout = nn.Dropout(0.1)

    def logits(self, x):
        return self.norm(x) @ self.embedding.weight.t()

    def forward(self, tokens, states):
        """Logits, and each layer's cross-attention before the softmax."""
        length = tokens.shape[1]
        x = self.dropout(self.embedding(tokens) + self.positions[:length])
        mask = torch.full((length, length), -1e9).triu(1)
        scores = []
        for block in self.blocks:
            normed = block.self_norm(x)
            keys, values = block.self_attention.keys_and_values(normed)
            x = x + self.dropout(block.self_attention(normed, keys, values, mask)[0])
            keys, values = block.cross_attention.keys_and_values(states)
            attended, _, layer_scores = block.cross_attention(block.cross_norm(x), keys, values)
            scores.append(layer_scores)
            x = x + self.dropout(attended)
            x = x + self.dropout(block.feed_forward(x))
        return self.logits(x), scores


class Model(nn.Module):
    def __init__(self, vocabulary_size):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = Decoder(vocabulary_size)
