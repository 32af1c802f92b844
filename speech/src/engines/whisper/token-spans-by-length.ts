import type { FrameSpan } from "../../alignment/align-tokens.ts";

/**
 * Estimates the frames of tokens if a decoder has no attention outputs: the text between two timestamps (or
 * the whole utterance) is distributed over the loud frames by the number of bytes. Accurate to a word or two.
 */
export interface SpansByLengthInput {
  /** For each token: the number of its bytes, and the frame of a timestamp. */
  tokens: readonly { bytes: number; timestamp: number | null }[];
  /** For each frame: 0 (speech) … 1 (silence). */
  quiet: Float32Array;
}

/** If nothing is loud, all frames count alike. */
const LEAST_LOUDNESS = 0.02;

/** @returns A span for each token, in order, not overlapping, inside the frames. */
export function spansByLength({ tokens, quiet }: SpansByLengthInput): FrameSpan[] {
  const loudUntil = new Float64Array(quiet.length + 1);
  for (const [frame, quietness] of quiet.entries()) {
    loudUntil[frame + 1] = (loudUntil[frame] as number) + Math.max(LEAST_LOUDNESS, 1 - quietness);
  }
  const inside = (frame: number) => Math.min(quiet.length, Math.max(0, frame));

  const spans: FrameSpan[] = [];
  let from = 0;
  for (let first = 0; first < tokens.length; ) {
    const timestamp = tokens[first]?.timestamp ?? null;
    if (timestamp !== null) {
      from = Math.max(from, inside(timestamp));
      spans.push({ start: from, end: from });
      first++;
      continue;
    }
    const next = tokens.findIndex((token, place) => place > first && token.timestamp !== null);
    const end = next < 0 ? tokens.length : next;
    const until = next < 0 ? quiet.length : Math.max(from, inside(tokens[next]?.timestamp ?? 0));
    spans.push(...shareOut(tokens.slice(first, end), { start: from, end: until }, loudUntil));
    from = until;
    first = end;
  }
  return spans;
}

function shareOut(
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
