import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const FILE = new URL("../fixtures/whisper-vocabulary/multilingual.tiktoken.gz", import.meta.url);

/** Whisper's multilingual vocabulary (openai/whisper, MIT): bytes of each token, and the tokens of a text. */
export class WhisperVocabulary {
  readonly tokenBytes: readonly Uint8Array[];
  readonly #ranks: ReadonlyMap<string, number>;

  constructor() {
    const lines = gunzipSync(readFileSync(FILE)).toString().trim().split("\n");
    this.tokenBytes = lines.map((line) => Buffer.from(line.split(" ")[0]!, "base64"));
    this.#ranks = new Map(this.tokenBytes.map((bytes, rank) => [latin1(bytes), rank]));
  }

  /** Tokens of a text by byte-pair encoding, split into words as GPT-2's tokenizer splits it. */
  encode(text: string): number[] {
    const words =
      text.match(/'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu) ?? [];
    return words.flatMap((word) => this.#merged(Buffer.from(word)));
  }

  /** Merges the pair with the lowest rank until no pair is a token. */
  #merged(word: Uint8Array): number[] {
    const parts = [...word].map((byte) => latin1(Uint8Array.of(byte)));
    for (;;) {
      const ranks = parts.slice(1).map((part, index) => this.#ranks.get(parts[index]! + part) ?? Infinity);
      const lowest = ranks.indexOf(Math.min(...ranks));
      if (lowest < 0 || ranks[lowest] === Infinity) return parts.map((part) => this.#ranks.get(part)!);
      parts.splice(lowest, 2, parts[lowest]! + parts[lowest + 1]!);
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
