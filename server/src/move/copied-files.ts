import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { nullIfAbsent } from "../lib/files.ts";

/** A file whose content is in the bucket. */
export interface CopiedFile {
  key: string;
  sizeBytes: number;
  /** Modification time, in nanoseconds since the Unix epoch. */
  modifiedNs: string;
  /** The ETag of the object that has the file's content. */
  etag: string;
}

/**
 * A list of copied files, one JSON object per line, so that a later run does not read these files again. If a crash
 * loses a line, its file is merely copied again.
 */
export class CopiedFiles {
  readonly #files: Map<string, CopiedFile>;
  readonly #output: ReturnType<typeof createWriteStream>;

  private constructor(path: string, files: Map<string, CopiedFile>) {
    this.#files = files;
    this.#output = createWriteStream(path, { flags: "a", mode: 0o600 });
    // Without a listener, an error such as ENOSPC would end the process. `add` and `close` report it.
    this.#output.on("error", () => {});
    // A process that was killed may have left half a line.
    this.#output.write("\n");
  }

  static async open(path: string): Promise<CopiedFiles> {
    return new CopiedFiles(path, await readCopiedFiles(path));
  }

  get(key: string): CopiedFile | undefined {
    return this.#files.get(key);
  }

  /** @throws Error if an earlier entry could not be written, for example because the disk is full */
  add(file: CopiedFile): void {
    if (this.#output.errored) throw this.#output.errored;
    this.#files.set(file.key, file);
    this.#output.write(`${JSON.stringify(file)}\n`);
  }

  /** @throws Error if an entry could not be written */
  async close(): Promise<void> {
    this.#output.end();
    await finished(this.#output);
  }
}

/** Returns the last entry of each key. Returns an empty map if the file does not exist. */
export async function readCopiedFiles(path: string): Promise<Map<string, CopiedFile>> {
  const files = new Map<string, CopiedFile>();
  const file = await open(path).catch(nullIfAbsent);
  // Line by line, because the list of millions of files does not fit into a string.
  for await (const line of file?.readLines() ?? []) {
    const copied = parseLine(line);
    if (copied) files.set(copied.key, copied);
  }
  return files;
}

function parseLine(line: string): CopiedFile | null {
  try {
    return JSON.parse(line) as CopiedFile;
  } catch {
    return null;
  }
}
