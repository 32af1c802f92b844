import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

/** Subfolder with a copy of the data folder, as if the service had been stopped at one point in time. */
export const DATA_FOLDER = "data";
/** Checksums that `sha256sum --check SHA256SUMS` can verify. */
export const SUMS_FILE = "SHA256SUMS";
/** Written last, so a folder without it is not a complete backup. */
export const MANIFEST_FILE = "backup.json";

const LARGEST_READ_BYTES = 1024 ** 2;

const Manifest = Type.Object({
  format: Type.Literal("subtext backup 1"),
  /** Version of the service that made the backup. */
  version: Type.String(),
  madeAt: Type.String(),
  postgresMajor: Type.String(),
  migrations: Type.Array(Type.String()),
  /** If `bucket`, the backup does not contain recordings and transcripts. */
  files: Type.Enum(["here", "bucket"]),
  fileCount: Type.Integer(),
  bytes: Type.Integer(),
  /** Number of videos with files that rows reference but that did not exist when the backup was made. */
  missingCount: Type.Integer(),
  /** SHA-256 of the checksum list in hexadecimal. */
  sumsHash: Type.String(),
});

export type Manifest = Static<typeof Manifest>;

export async function writeManifest(backup: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFile(join(backup, MANIFEST_FILE), text, { mode: 0o600, flag: "wx" });
}

/** @throws Error with a readable message if the folder contains no complete backup of a known format */
export async function readManifest(backup: string): Promise<Manifest> {
  const text = await readFile(join(backup, MANIFEST_FILE), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    throw new Error(`${backup} is not a backup: it has no ${MANIFEST_FILE}, which is written last.`);
  });
  const parsed = parse(text);
  if (!Value.Check(Manifest, parsed)) {
    throw new Error(
      `${join(backup, MANIFEST_FILE)} cannot be read, or was made by a newer version of Subtext.`,
    );
  }
  if ((await hashFile(join(backup, SUMS_FILE))) !== parsed.sumsHash) {
    throw new Error(`${join(backup, SUMS_FILE)} was changed after it was written: the backup is damaged.`);
  }
  return parsed;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export interface Sum {
  hash: string;
  /** Relative to the backup, with `/`. */
  path: string;
}

/** @throws Error if a line is invalid */
export async function* readSums(backup: string): AsyncGenerator<Sum> {
  for await (const line of createInterface({ input: createReadStream(join(backup, SUMS_FILE)) })) {
    const [, hash, path] = /^([0-9a-f]{64}) {2}(data\/[A-Za-z0-9_.\-/]+)$/.exec(line) ?? [];
    if (!hash || !path || path.split("/").includes(".."))
      throw new Error(`${SUMS_FILE} has an invalid line: ${line.slice(0, 200)}`);
    yield { hash, path };
  }
}

export function formatSum({ hash, path }: Sum): string {
  return `${hash}  ${path}\n`;
}

/** Returns the file's SHA-256 in hexadecimal. */
export async function hashFile(path: string, onBytes: (bytes: number) => void = () => {}): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    // Sized to the file, because most of possibly hundreds of thousands of files are a few kilobytes.
    const buffer = Buffer.allocUnsafe(Math.min(Math.max(size, 1), LARGEST_READ_BYTES));
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
      onBytes(bytesRead);
    }
  } finally {
    await file.close();
  }
}
