import { sleep, type Tenant } from "@subtext/bench/spawned-service";
import { findRunning, overHttp } from "@subtext/server/cli/internal-client";
import { readConfig } from "@subtext/server/config/config";
import type { World } from "./fault.ts";
import type { Upload } from "./uploads.ts";

/** Beyond every wait between two attempts, with a queue that has grown long. */
const END_WITHIN_MS = 8 * 60_000;

/** Waits until every video that was not deleted has ended. @returns those that have not, with their status */
export async function untilAllEnded(
  { fleet, uploads }: World,
  tenant: Tenant,
): Promise<{ upload: Upload; status: string }[]> {
  const givesUpAt = performance.now() + END_WITHIN_MS;
  const late: { upload: Upload; status: string }[] = [];
  for (const upload of uploads) {
    if (upload.deletion !== "none") continue;
    for (;;) {
      const seen = await fleet.front.service.read(tenant, upload.videoId);
      if (seen && seen.status !== "PENDING" && seen.status !== "PROCESSING") break;
      if (performance.now() > givesUpAt) {
        late.push({ upload, status: seen?.status ?? "not to be read" });
        break;
      }
      await sleep(200);
    }
  }
  return late;
}

/**
 * An operator's work after such a day: what failed because its engine or decoder was hit three times is tried again.
 * @returns by video, the code that it had failed with
 */
export async function reprocessWhatFaultsFailed(
  { fleet, uploads }: World,
  tenant: Tenant,
): Promise<Map<string, string>> {
  const running = await findRunning(readConfig({ DATA_DIR: fleet.front.service.dataFolder }).dataFolder);
  if (!running) throw new Error("the service does not run");
  const client = overHttp(running);
  const failed = new Map<string, string>();
  for (const { videoId, deletion, recording } of uploads) {
    if (deletion !== "none" || recording.ends === "FAILED") continue;
    const seen = await fleet.front.service.read(tenant, videoId);
    if (seen?.status !== "FAILED") continue;
    const view = await client.send("GET /transcriptions/:id", { params: { id: videoId } });
    failed.set(videoId, view.failure?.code ?? "no reason");
    await client.send("POST /transcriptions/:id/reprocess", { params: { id: videoId } });
  }
  return failed;
}
