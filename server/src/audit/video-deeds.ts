import type { AuditAction } from "../db/enums.ts";
import type { Tx } from "../db/schema.ts";
import { findEnvironment } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { type Author, writeDown } from "./audit.ts";

/** By its id alone: what a video is called is its owner's. */
export async function writeDownVideo(
  { tx, clock }: { tx: Tx; clock: Clock },
  author: Author,
  action: AuditAction,
  { environmentId, videoId }: { environmentId: string; videoId: string },
): Promise<void> {
  const environment = await findEnvironment(tx, environmentId);
  await writeDown({ tx, clock }, author, {
    action,
    subject: { id: videoId, name: null },
    ...(environment && { environment }),
  });
}
