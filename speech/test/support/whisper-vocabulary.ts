import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { TextTokenizer } from "../../src/engines/whisper/tokens-of-text.ts";

const FILE = new URL("../fixtures/whisper-vocabulary/multilingual.tiktoken.gz", import.meta.url);

/** Whisper's multilingual vocabulary (openai/whisper, MIT): bytes of each token, and the tokens of a text. */
export class WhisperVocabulary {
  readonly tokenBytes: readonly Uint8Array[];
  readonly #tokenizer: TextTokenizer;

  constructor() {
    const lines = gunzipSync(readFileSync(FILE)).toString().trim().split("\n");
    this.tokenBytes = lines.map((line) => Buffer.from(line.split(" ")[0]!, "base64"));
    this.#tokenizer = new TextTokenizer(this.tokenBytes);
  }

  textOf(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.tokenBytes[token]!)).toString();
  }

  encode(text: string): number[] {
    return this.#tokenizer.encode(text);
  }
}
