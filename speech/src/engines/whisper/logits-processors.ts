import type { WhisperModel } from "./model-files.ts";

/**
 * Which tokens may come next in a Whisper text: the rules of the published decoder. Models learn their
 * text under these rules, and write nonsense without some of them.
 */

/** Timestamps are told in steps of this length, seconds. */
export const TIMESTAMP_STEP_SECONDS = 0.02;
/** Where a text may begin at the latest, if it is to have timestamps. */
const MAX_INITIAL_SECONDS = 1;

type RuleModel = Pick<
  WhisperModel,
  "tokens" | "tokenBytes" | "suppressed" | "suppressedAtBegin" | "vocabularySize"
>;

/** Sets the logits of tokens that may not come next to −∞, given the tokens chosen so far. */
export type TokenRules = (logits: Float32Array, tokens: readonly number[]) => void;

/** @param timestamps Whether the text is to have timestamps, as it has after a prompt without `notimestamps`. */
export function tokenRules(model: RuleModel, timestamps: boolean): TokenRules {
  const never = [...new Set([...controlTokens(model), ...model.suppressed])];
  const { firstTimestamp } = model.tokens;
  return (logits, tokens) => {
    for (const token of never) logits[token] = Number.NEGATIVE_INFINITY;
    if (tokens.length === 0) {
      for (const token of model.suppressedAtBegin) logits[token] = Number.NEGATIVE_INFINITY;
    }
    if (timestamps && firstTimestamp !== null) {
      keepTimestampsInOrder(logits, tokens, firstTimestamp, model.tokens.end);
    }
  };
}

/** What belongs into prompts only: languages, tasks and the like. */
function controlTokens({ tokens, tokenBytes, vocabularySize }: RuleModel): number[] {
  const control: number[] = [];
  const textAndControl = tokens.firstTimestamp ?? vocabularySize;
  for (let token = 0; token < textAndControl; token++) {
    if (!tokenBytes[token] && token !== tokens.end) control.push(token);
  }
  return control;
}

/**
 * Timestamps come in pairs (the end of one stretch, the start of the next), never go back, the first one is
 * ≤ 1 s, and one comes wherever all timestamps together are likelier than the likeliest other token.
 */
function keepTimestampsInOrder(
  logits: Float32Array,
  tokens: readonly number[],
  firstTimestamp: number,
  end: number,
): void {
  const isTimestamp = (token: number | undefined) => token !== undefined && token >= firstTimestamp;
  if (tokens.length === 0) {
    const latest = firstTimestamp + Math.round(MAX_INITIAL_SECONDS / TIMESTAMP_STEP_SECONDS);
    logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);
    logits.fill(Number.NEGATIVE_INFINITY, latest + 1);
    return;
  }
  const last = tokens.findLast(isTimestamp) ?? firstTimestamp;
  if (isTimestamp(tokens.at(-1))) {
    const pairIsWhole = tokens.length < 2 || isTimestamp(tokens.at(-2));
    if (pairIsWhole) {
      logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp);
      return;
    }
    // The end of a stretch: the start of the next follows, or the end of the text.
    for (let token = 0; token < firstTimestamp; token++) {
      if (token !== end) logits[token] = Number.NEGATIVE_INFINITY;
    }
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, last);
  } else {
    // A stretch is longer than nothing.
    logits.fill(Number.NEGATIVE_INFINITY, firstTimestamp, last + 1);
  }
  if (timestampsAreLikelier(logits, firstTimestamp)) logits.fill(Number.NEGATIVE_INFINITY, 0, firstTimestamp);
}

function timestampsAreLikelier(logits: Float32Array, firstTimestamp: number): boolean {
  let highestOther = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < firstTimestamp; token++) {
    highestOther = Math.max(highestOther, logits[token] as number);
  }
  if (highestOther === Number.NEGATIVE_INFINITY) return false;
  let sum = 0;
  for (let token = firstTimestamp; token < logits.length; token++) {
    sum += Math.exp((logits[token] as number) - highestOther);
  }
  return sum > 1;
}
