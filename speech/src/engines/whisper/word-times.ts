import { alignTokens, type FrameSpan } from "../../alignment/align-tokens.ts";
import { type FrameLayout, quietFrames } from "../../alignment/loudness.ts";
import { type SpelledWord, timedWords } from "../../alignment/timed-words.ts";
import { SAMPLE_RATE } from "../../media/audio.ts";
import type { DecodedSequence } from "../../onnx/decode-sequences.ts";
import type { AttentionHead } from "../../onnx/seq2seq-decoder.ts";
import type { TimedWord } from "../../transcript.ts";
import type { Utterance } from "../../vad/utterances.ts";
import { candidateHeads, selectTimeHeads } from "./alignment-heads.ts";
import { TIMESTAMP_STEP_SECONDS } from "./logits-processors.ts";
import type { WhisperModel } from "./model-files.ts";

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

interface SpansByLengthInput {
  /** Length of each token, or its frame if it is a timestamp. */
  tokens: readonly { bytes: number; timestamp: number | null }[];
  /** For each frame: 0 (speech) … 1 (silence). */
  quiet: Float32Array;
}

/** Lower limit, so time can be distributed even if nothing is loud. */
const MIN_LOUDNESS = 0.02;

/**
 * Estimates the frames of tokens for a decoder without attention outputs. The text between two timestamps, or the whole
 * text, is distributed over the loud frames by the number of bytes. The result is accurate to a word or two.
 * @returns a span for each token, in order and without overlaps
 */
function spansByLength({ tokens, quiet }: SpansByLengthInput): FrameSpan[] {
  const loudUntil = new Float64Array(quiet.length + 1);
  for (const [frame, quietness] of quiet.entries()) {
    loudUntil[frame + 1] = (loudUntil[frame] as number) + Math.max(MIN_LOUDNESS, 1 - quietness);
  }
  const clamp = (frame: number) => Math.min(quiet.length, Math.max(0, frame));

  const spans: FrameSpan[] = [];
  let from = 0;
  for (let first = 0; first < tokens.length; ) {
    const timestamp = tokens[first]?.timestamp ?? null;
    if (timestamp !== null) {
      from = Math.max(from, clamp(timestamp));
      spans.push({ start: from, end: from });
      first++;
      continue;
    }
    const next = tokens.findIndex((token, index) => index > first && token.timestamp !== null);
    const end = next < 0 ? tokens.length : next;
    const until = next < 0 ? quiet.length : Math.max(from, clamp(tokens[next]?.timestamp ?? 0));
    spans.push(...distribute(tokens.slice(first, end), { start: from, end: until }, loudUntil));
    from = until;
    first = end;
  }
  return spans;
}

function distribute(
  tokens: readonly { bytes: number }[],
  { start, end }: FrameSpan,
  loudUntil: Float64Array,
): FrameSpan[] {
  const loudBefore = loudUntil[start] as number;
  const loud = (loudUntil[end] as number) - loudBefore;
  const bytes = tokens.reduce((sum, token) => sum + token.bytes, 0);
  let spelled = 0;
  let from = start;
  return tokens.map((token) => {
    spelled += token.bytes;
    const share = bytes === 0 ? 1 : spelled / bytes;
    let until = from;
    while (until < end && (loudUntil[until] as number) < loudBefore + share * loud - 1e-9) until++;
    const span = { start: from, end: until };
    from = until;
    return span;
  });
}
