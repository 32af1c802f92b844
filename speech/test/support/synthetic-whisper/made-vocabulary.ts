/** The tokens of a synthetic model, numbered as in Whisper's vocabularies: text tokens, then special tokens. */
export interface MadeVocabulary {
  /** The text of each token; bytes are written as in the vocabulary file. */
  pieces: readonly string[];
  /** Returns the id of a token by its text: ` hello`, `<|es|>`, `<|1.50|>`. */
  id(text: string): number;
  size: number;
  firstSpecial: number;
}

interface Wanted {
  languages: readonly string[];
  texts: Iterable<string>;
  /** More text tokens, which may be parts of characters, as `writtenBytes` returns them. */
  written?: readonly string[];
  /** Highest timestamp, seconds; null for none. */
  timestampsUntil: number | null;
}

/** Contains single bytes, the given texts, then the special tokens. */
export function madeVocabulary({ languages, texts, written = [], timestampsUntil }: Wanted): MadeVocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => writtenByte(byte));
  const known = new Set(written);
  const spelled = [...texts].filter((text) => !known.has(text)).map(writtenText);
  const words = [...new Set([...written, ...spelled])].filter(
    (piece) => !bytes.includes(piece) && !piece.startsWith("<|"),
  );
  const special = [
    "<|endoftext|>",
    "<|startoftranscript|>",
    ...languages.map((language) => `<|${language}|>`),
    "<|translate|>",
    "<|transcribe|>",
    "<|startoflm|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
    ...Array.from(
      { length: timestampsUntil === null ? 0 : Math.round(timestampsUntil * 50) + 1 },
      (_, step) => `<|${(step / 50).toFixed(2)}|>`,
    ),
  ];
  const pieces = [...bytes, ...words, ...special];
  const ids = new Map(pieces.map((piece, id) => [piece, id]));
  return {
    pieces,
    size: pieces.length,
    firstSpecial: pieces.length - special.length,
    id(text) {
      const id = ids.get(text) ?? ids.get(writtenText(text));
      if (id === undefined) throw new Error(`The synthetic model has no token ${text}.`);
      return id;
    },
  };
}

function writtenText(text: string): string {
  return text.startsWith("<|") ? text : writtenBytes(new TextEncoder().encode(text));
}

/** Writes bytes as GPT-2's vocabulary does: each as one printable character. */
export function writtenBytes(bytes: Uint8Array): string {
  return [...bytes].map(writtenByte).join("");
}

function writtenByte(byte: number): string {
  const printable = (code: number) => /[!-~\u00a1-\u00ac\u00ae-\u00ff]/.test(String.fromCharCode(code));
  if (printable(byte)) return String.fromCharCode(byte);
  const unprintableBefore = Array.from({ length: byte }, (_, code) => code).filter(
    (code) => !printable(code),
  );
  return String.fromCharCode(0x100 + unprintableBefore.length);
}
