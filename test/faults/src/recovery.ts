import { setTimeout as sleep } from "node:timers/promises";
import type { Tenant } from "@subtext/bench/spawned-service";
import { connectOverHttp, findRunning } from "@subtext/server/cli/internal-client";
import { readConfig } from "@subtext/server/config/config";
import type { World } from "./faults/fault.ts";
import type { Upload } from "./uploads.ts";

/** Longer than any delay between attempts plus the time for a long queue. */
const QUEUE_TIMEOUT_MS = 8 * 60_000;

/**
 * Waits until the transcriptions of all videos that were not deleted have ended.
 * @returns the uploads whose transcription had not ended after the timeout
 */
export async function waitUntilAllEnded(
  { fleet, uploads }: World,
  tenant: Tenant,
): Promise<{ upload: Upload; status: string }[]> {
  const deadline = performance.now() + QUEUE_TIMEOUT_MS;
  const late: { upload: Upload; status: string }[] = [];
  for (const upload of uploads) {
    if (upload.deletion !== "none") continue;
    for (;;) {
      const seen = await fleet.front.service.read(tenant, upload.videoId);
      if (seen && seen.status !== "PENDING" && seen.status !== "PROCESSING") break;
      if (performance.now() > deadline) {
        late.push({ upload, status: seen?.status ?? "unreadable" });
        break;
      }
      await sleep(200);
    }
  }
  return late;
}

/**
 * Reprocesses failed transcriptions, as an operator would after an engine or decoder crashed three times.
 * @returns the failure codes, keyed by video id
 */
export async function reprocessFailed(
  { fleet, uploads }: World,
  tenant: Tenant,
): Promise<Map<string, string>> {
  const running = await findRunning(readConfig({ DATA_DIR: fleet.front.service.dataFolder }).dataFolder);
  if (!running) throw new Error("the service is not running");
  const client = connectOverHttp(running);
  const failed = new Map<string, string>();
  for (const { videoId, deletion, recording } of uploads) {
    if (deletion !== "none" || recording.expectedStatus === "FAILED") continue;
    const seen = await fleet.front.service.read(tenant, videoId);
    if (seen?.status !== "FAILED") continue;
    const view = await client.send("GET /transcriptions/:id", { params: { id: videoId } });
    failed.set(videoId, view.failure?.code ?? "no reason");
    await client.send("POST /transcriptions/:id/reprocess", { params: { id: videoId } });
  }
  return failed;
}
