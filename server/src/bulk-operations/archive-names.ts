import { safeFileName } from "../storage/content-disposition.ts";

/** File systems limit a name to 255 bytes. The remaining bytes are for a number, the language and the extension. */
const MAX_STEM_BYTES = 200;
/** Windows reserves these names with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³])$/i;

/** Assigns unique file names in an archive. Ignores case and Unicode form, so no file system confuses two names. */
export class ArchiveNames {
  readonly #taken = new Set<string>();
  /** The next number for a repeated name. */
  readonly #numbers = new Map<string, number>();

  /** Returns a name without extension, such as `holiday` or `holiday (2)`. */
  assign(wanted: string): string {
    const stem = safeStem(wanted);
    const key = keyOf(stem);
    let number = this.#numbers.get(key) ?? 1;
    let name = number === 1 ? stem : `${stem} (${number})`;
    while (this.#taken.has(keyOf(name))) {
      number += 1;
      name = `${stem} (${number})`;
    }
    this.#numbers.set(key, number + 1);
    this.#taken.add(keyOf(name));
    return name;
  }
}

function safeStem(wanted: string): string {
  const name = safeFileName(wanted).normalize("NFC");
  const first = name.split(".")[0] ?? "";
  return cut(RESERVED.test(first.trim()) ? `_${name}` : name);
}

function cut(name: string): string {
  let bytes = 0;
  const kept: string[] = [];
  for (const { segment } of new Intl.Segmenter().segment(name)) {
    bytes += Buffer.byteLength(segment);
    if (bytes > MAX_STEM_BYTES) break;
    kept.push(segment);
  }
  return kept.join("").trimEnd() || "file";
}

function keyOf(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
