import { alignTokens, type FrameSpan } from "../../alignment/align-tokens.ts";
import { type FrameLayout, quietFrames } from "../../alignment/loudness.ts";
import type { SpelledWord } from "../../alignment/timed-words.ts";
import { timedWords } from "../../alignment/timed-words.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";
import type { DecodedSequence } from "../../onnx/decode-sequences.ts";
import type { AttentionHead } from "../../onnx/seq2seq-decoder.ts";
import type { TimedWord } from "../../transcript.ts";
import type { Utterance } from "../../vad/utterances.ts";
import { candidateHeads, selectTimeHeads } from "./alignment-heads.ts";
import { TIMESTAMP_STEP_SECONDS } from "./logits-processors.ts";
import type { WhisperModel } from "./model-files.ts";
import { spansByLength } from "./token-spans-by-length.ts";

/** Attention leads the sound by about half a frame: the median for one model on speech with known word times. */
const TIME_CORRECTION_SECONDS = 0.01;

export interface WordTimes {
  /** Heads whose attention must be stored while decoding; empty if the decoder has no attention outputs. */
  heads: readonly AttentionHead[];
  /** Returns the number of encoder frames for a number of samples. */
  framesOf(samples: number): number;
  timed(utterance: Utterance, sequence: DecodedSequence, words: readonly SpelledWord[]): TimedWord[];
}

/** @param attentionLayers layers whose cross-attention the decoder outputs */
export function wordTimes(model: WhisperModel, attentionLayers: readonly number[]): WordTimes {
  const { window, tokens, tokenBytes } = model;
  const stated = model.alignmentHeads?.filter(({ layer }) => attentionLayers.includes(layer)) ?? [];
  const areStated = stated.length > 0;
  const heads = areStated ? stated : candidateHeads(attentionLayers, model.decoderLayers, model.decoderHeads);

  // Encoder frame i is centered on the mel frame at i · length.
  const length = window.samples / window.encoderFrames;
  const layout: FrameLayout = { length, offset: -length / 2 };
  const secondsPerFrame = length / SAMPLE_RATE;
  const framesOf = (samples: number) => Math.min(window.encoderFrames, Math.ceil(samples / length));

  return {
    heads,
    framesOf,
    timed({ samples, start }, sequence, words) {
      const frames = framesOf(samples.length);
      const quiet = quietFrames(samples, frames, layout);
      const attentionSpans = (): FrameSpan[] => {
        const wordStarts = new Set(words.map(({ firstToken }) => firstToken));
        return alignTokens({
          attention: areStated ? sequence.attention : selectTimeHeads(sequence, heads.length),
          steps: sequence.steps,
          frames,
          attentionFrames: sequence.frames,
          wordStarts: Array.from({ length: sequence.steps }, (_, step) => wordStarts.has(step)),
          quiet,
          onsets: null,
          letters: null,
        });
      };
      const lengthSpans = (): FrameSpan[] =>
        spansByLength({
          tokens: sequence.tokens.map((token) => ({
            bytes: tokenBytes[token]?.length ?? 0,
            timestamp:
              tokens.firstTimestamp === null || token < tokens.firstTimestamp
                ? null
                : Math.round(((token - tokens.firstTimestamp) * TIMESTAMP_STEP_SECONDS) / secondsPerFrame),
          })),
          quiet,
        });
      return timedWords({
        words,
        spans: heads.length > 0 ? attentionSpans() : lengthSpans(),
        logProbabilities: sequence.logProbabilities,
        start,
        seconds: samples.length / SAMPLE_RATE,
        secondsPerFrame,
        correction: layout.offset / SAMPLE_RATE + TIME_CORRECTION_SECONDS,
      });
    },
  };
}
