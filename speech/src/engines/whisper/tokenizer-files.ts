import { isIntegerIn, type JsonFile, readJson, readJsonIfPresent, shortened } from "./json-file.ts";

export interface Vocabulary {
  /** Path of the main file for messages. */
  path: string;
  /** Special tokens and timestamps, keyed by text (`<|endoftext|>`, `<|0.00|>`). */
  special: ReadonlyMap<string, number>;
  /** UTF-8 bytes of each token; null for special tokens and unused numbers. */
  tokenBytes: readonly (Uint8Array | null)[];
}

/** Real pieces have at most a few hundred bytes. */
const MAX_PIECE_LENGTH = 4_096;
const SPECIAL_TOKEN = /^<\|.*\|>$/s;

/**
 * Reads `tokenizer.json`, or else `vocab.json` and `added_tokens.json`.
 * @throws SpeechError `model_unusable`
 */
export async function readVocabulary(folder: string, vocabularySize: number): Promise<Vocabulary> {
  const tokenizer = await readJsonIfPresent(folder, "tokenizer.json");
  const special = new Map<string, number>();
  const tokenBytes = new Array<Uint8Array | null>(vocabularySize).fill(null);

  const addPiece = (file: JsonFile, piece: string, id: unknown) => {
    if (!isIntegerIn(id, 0, Number.MAX_SAFE_INTEGER)) {
      throw file.unusable(`assigns the number ${shortened(id)} to the token ${shortened(piece)}`);
    }
    if (id >= vocabularySize) return;
    requireShort(file, piece);
    if (SPECIAL_TOKEN.test(piece)) special.set(piece, id);
    else tokenBytes[id] = bytesOfPiece(piece);
  };
  const addAdded = (file: JsonFile, content: unknown, id: unknown, isSpecial: boolean) => {
    if (typeof content !== "string" || !isIntegerIn(id, 0, Number.MAX_SAFE_INTEGER)) {
      throw file.unusable(`adds a token ${shortened(content)} with the number ${shortened(id)}`);
    }
    if (id >= vocabularySize) return;
    requireShort(file, content);
    const spells = !isSpecial && !SPECIAL_TOKEN.test(content);
    if (!spells) special.set(content, id);
    // Added tokens are plain text, not byte-level characters.
    tokenBytes[id] = spells ? new TextEncoder().encode(content) : null;
  };

  let path: string;
  if (tokenizer) {
    path = tokenizer.path;
    const pieces = tokenizer.object("model")?.object("vocab");
    if (!pieces) throw tokenizer.unusable("has no byte pair vocabulary (model.vocab)");
    for (const [piece, id] of pieces.entries()) addPiece(tokenizer, piece, id);
    for (const added of tokenizer.list("added_tokens") ?? []) {
      const { content, id, special: isSpecial } = (added ?? {}) as Record<string, unknown>;
      addAdded(tokenizer, content, id, isSpecial === true);
    }
  } else {
    const vocabulary = await readJson(folder, "vocab.json");
    path = vocabulary.path;
    for (const [piece, id] of vocabulary.entries()) addPiece(vocabulary, piece, id);
    const added = await readJsonIfPresent(folder, "added_tokens.json");
    for (const [content, id] of added?.entries() ?? []) addAdded(added as JsonFile, content, id, false);
  }
  return { path, special, tokenBytes };
}

function requireShort(file: JsonFile, piece: string): void {
  if (piece.length > MAX_PIECE_LENGTH) {
    throw file.unusable(`has a token of ${piece.length} characters, ${shortened(piece)}`);
  }
}

/**
 * In GPT-2's byte-level encoding, each byte is represented by a printable character: itself if it is printable in
 * Latin-1. The other 68 are U+0100, U+0101, … in order.
 */
const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = byteAlphabet();

function byteAlphabet(): Map<string, number> {
  const alphabet = new Map<string, number>();
  let others = 0;
  for (let byte = 0; byte < 256; byte++) {
    const printable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
    alphabet.set(String.fromCodePoint(printable ? byte : 0x100 + others++), byte);
  }
  return alphabet;
}

/** Returns the bytes of a vocabulary piece. A piece with other characters is plain text. */
export function bytesOfPiece(piece: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of piece) {
    const byte = BYTE_OF_CHARACTER.get(character);
    if (byte === undefined) return new TextEncoder().encode(piece);
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}
