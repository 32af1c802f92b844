"""Whisper's log-mel spectrogram."""

import numpy as np
import torch

SAMPLE_RATE = 16_000
FFT_SAMPLES = 400
HOP_SAMPLES = 160
MEL_BINS = 80


def slaney_filters():
    def mel_of(hertz):
        above = 15 + np.log(np.maximum(hertz, 1e-9) / 1000) / (np.log(6.4) / 27)
        return np.where(hertz < 1000, hertz * 3 / 200, above)

    def hertz_of(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    highest = mel_of(np.array(SAMPLE_RATE / 2))
    corners = hertz_of(np.linspace(0, highest, MEL_BINS + 2))
    frequencies = np.linspace(0, SAMPLE_RATE / 2, FFT_SAMPLES // 2 + 1)
    low, middle, high = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    triangles = np.minimum((frequencies - low) / (middle - low), (high - frequencies) / (high - middle))
    return torch.tensor(np.maximum(0, triangles) * 2 / (high - low), dtype=torch.float32)


FILTERS = slaney_filters()
HANN = torch.hann_window(FFT_SAMPLES)


def log_mel(samples):
    """[batch, samples] → [batch, MEL_BINS, samples / HOP_SAMPLES]"""
    spectrum = torch.stft(
        samples, FFT_SAMPLES, HOP_SAMPLES, window=HANN, return_complex=True, pad_mode="reflect"
    )
    power = spectrum[..., :-1].abs() ** 2
    return torch.log10((FILTERS @ power).clamp(min=1e-10))


def normalised(log_mels):
    loudest = log_mels.amax((1, 2), keepdim=True)
    return (torch.maximum(log_mels, loudest - 8) + 4) / 4
