import type { FrameSpan } from "../../alignment/align-tokens.ts";

export interface SpansByLengthInput {
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
export function spansByLength({ tokens, quiet }: SpansByLengthInput): FrameSpan[] {
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
