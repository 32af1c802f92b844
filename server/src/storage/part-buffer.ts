import { randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";

/** A buffer that grows beyond this size is moved to a file. */
const MEMORY_BYTES = 128 * 1024;

export interface PartBufferOptions {
  folder: string;
  /**
   * Waits for disk space for another part.
   * @returns a function that frees the space
   */
  reserve(): Promise<() => void>;
}

/**
 * Collects the bytes of a part. Small parts stay in memory. Larger ones are in an unlinked file, which the operating
 * system removes even if the process crashes.
 */
export class PartBuffer {
  readonly #options: PartBufferOptions;
  #file: FileHandle | null = null;
  #release: (() => void) | null = null;
  #fileBytes = 0;
  #chunks: Uint8Array[] = [];
  #chunkBytes = 0;

  constructor(options: PartBufferOptions) {
    this.#options = options;
  }

  get sizeBytes(): number {
    return this.#fileBytes + this.#chunkBytes;
  }

  /** Appends bytes and waits for disk space if necessary. Throws if that fails, but keeps the bytes in memory. */
  async append(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk);
    this.#chunkBytes += chunk.length;
    if (this.#chunkBytes <= MEMORY_BYTES) return;
    this.#release ??= await this.#options.reserve();
    this.#file ??= await openUnnamed(this.#options.folder);
    const content = Buffer.concat(this.#chunks);
    await writeAll(this.#file, content, this.#fileBytes);
    this.#fileBytes += content.length;
    this.#chunks = [];
    this.#chunkBytes = 0;
  }

  async read(): Promise<Buffer> {
    const content = Buffer.allocUnsafe(this.sizeBytes);
    await readAll(this.#file, content.subarray(0, this.#fileBytes));
    let at = this.#fileBytes;
    for (const chunk of this.#chunks) {
      content.set(chunk, at);
      at += chunk.length;
    }
    return content;
  }

  /** Discards the bytes and frees their disk space. */
  async clear(): Promise<void> {
    this.#fileBytes = 0;
    this.#chunks = [];
    this.#chunkBytes = 0;
    const [file, release] = [this.#file, this.#release];
    this.#file = null;
    this.#release = null;
    await file?.close();
    release?.();
  }
}

async function openUnnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, `part.${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await rm(path);
  return file;
}

async function writeAll(file: FileHandle, content: Buffer, position: number): Promise<void> {
  for (let at = 0; at < content.length; ) {
    const { bytesWritten } = await file.write(content, at, content.length - at, position + at);
    at += bytesWritten;
  }
}

async function readAll(file: FileHandle | null, content: Buffer): Promise<void> {
  for (let at = 0; at < content.length; ) {
    const { bytesRead } = await file!.read(content, at, content.length - at, at);
    if (bytesRead === 0) throw new Error("a part on the disk is shorter than the bytes written to it");
    at += bytesRead;
  }
}
