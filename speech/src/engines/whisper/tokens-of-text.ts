/** GPT-2's rule, which Whisper's tokenizer uses: merges do not cross these parts. */
const PARTS = /'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Converts text to tokens by byte-pair encoding. Special tokens in the text are encoded as ordinary characters. */
export class TextTokenizer {
  readonly #ranks: ReadonlyMap<string, number>;

  /** @param tokenBytes bytes of each token, in the order of their merges; null for special tokens */
  constructor(tokenBytes: readonly (Uint8Array | null)[]) {
    this.#ranks = new Map(
      tokenBytes.flatMap((bytes, token): [string, number][] =>
        bytes === null || bytes.length === 0 ? [] : [[latin1(bytes), token]],
      ),
    );
  }

  /** Drops bytes that the vocabulary lacks. The vocabularies of real models contain every byte. */
  encode(text: string): number[] {
    return (text.match(PARTS) ?? []).flatMap((part) => this.#encodePart(part));
  }

  /** Merges the pair with the lowest number until no pair is a token. */
  #encodePart(part: string): number[] {
    const pieces = [...Buffer.from(part)].map((byte) => latin1(Uint8Array.of(byte)));
    for (;;) {
      const ranks = pieces
        .slice(1)
        .map((piece, index) => this.#ranks.get(pieces[index]! + piece) ?? Infinity);
      const lowest = ranks.indexOf(Math.min(...ranks));
      if (lowest < 0 || ranks[lowest] === Infinity)
        return pieces.flatMap((piece) => this.#ranks.get(piece) ?? []);
      pieces.splice(lowest, 2, pieces[lowest]! + pieces[lowest + 1]!);
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
