import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { sizeOf } from "../lib/files.ts";
import { type ObjectStore, PROBES_PREFIX } from "../storage/object-store.ts";
import { readCopiedFiles } from "./copied-files.ts";
import { CONCURRENCY, type FileCount, localFiles } from "./copy-files.ts";
import { COPIED_FILES } from "./move.ts";
import { UNFINISHED_FOLDER } from "./move-state.ts";
import type { Plan } from "./plan.ts";
import { openSource } from "./source.ts";
import { assertUnused, openTarget } from "./target.ts";

const PROBE_BYTES = 4 * 1024 ** 2;
/** Measured by `npm run bench:move`: bytes of the embedded database's folder that are copied and compared per second. */
const DATABASE_BYTES_PER_SECOND = 8 * 1024 ** 2;

export interface MovePreview {
  /** Null if the files stay. */
  files: (FileCount & { remaining: FileCount; seconds: number }) | null;
  /** Null if the rows stay. */
  database: { bytes: number; seconds: number } | null;
  isRunning: boolean;
}

/**
 * Checks the target and estimates the move, without moving anything. Writes only two probe objects, which it removes.
 * @throws Error with a readable message if the target cannot be used
 */
export async function previewMove(plan: Plan, config: Config): Promise<MovePreview> {
  const { from, databaseUrl, bucket } = plan;
  const target = await openTarget(plan, config);
  try {
    if (!plan.unfinished?.mark) await assertUnused(target, plan);
    const source = await openSource(plan);
    await source?.close();
    const bytes = databaseUrl === null ? null : await sizeOf(join(from, "database"));
    return {
      files: bucket && target.objects && (await previewFiles(from, target.objects)),
      database: bytes === null ? null : { bytes, seconds: bytes / DATABASE_BYTES_PER_SECOND },
      isRunning: source === null,
    };
  } finally {
    await target.close();
  }
}

async function previewFiles(from: string, objects: ObjectStore): Promise<MovePreview["files"]> {
  const copied = await readCopiedFiles(join(from, UNFINISHED_FOLDER, COPIED_FILES));
  const all = { files: 0, bytes: 0 };
  const remaining = { files: 0, bytes: 0 };
  for await (const { key, sizeBytes, modifiedNs } of localFiles(from)) {
    const isCopied = copied.get(key)?.modifiedNs === modifiedNs && copied.get(key)?.sizeBytes === sizeBytes;
    for (const count of isCopied ? [all] : [all, remaining]) {
      count.files += 1;
      count.bytes += sizeBytes;
    }
  }
  const perFile = await secondsToPut(objects, 1);
  const perByte = Math.max(0, (await secondsToPut(objects, PROBE_BYTES)) - perFile) / PROBE_BYTES;
  const seconds = (remaining.files * perFile) / CONCURRENCY + remaining.bytes * perByte;
  return { ...all, remaining, seconds };
}

async function secondsToPut(objects: ObjectStore, bytes: number): Promise<number> {
  const key = PROBES_PREFIX + randomUUID();
  const startedAt = performance.now();
  try {
    await objects.put(key, Buffer.alloc(bytes));
    return (performance.now() - startedAt) / 1000;
  } finally {
    await objects.remove(key);
  }
}
