import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { UploadOfferView, VideoPageView } from "@subtext/server/admin/contract/video";
import type { Service } from "../../../server/src/main.ts";

const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");
const POLL_INTERVAL_MS = 500;

/**
 * Uploads the sample video to a running server and waits for its transcription.
 * @returns the video's id
 */
export async function transcribeSample({ parts }: Service, environmentId: string): Promise<string> {
  const base = `${parts.config.publicUrl}/internal/environments/${environmentId}/videos`;
  const authorization = `Bearer ${parts.commandLineToken}`;
  const bytes = readFileSync(SAMPLE);
  const offered = await fetch(base, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ filename: "Welcome to Subtext.mp4", sizeBytes: bytes.length }),
  });
  const { video, upload } = (await offered.json()) as UploadOfferView;
  const sent = await fetch(upload.url, {
    method: "PATCH",
    headers: {
      "tus-resumable": "1.0.0",
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
    },
    body: bytes,
  });
  if (sent.status !== 204) throw new Error(`the upload returned ${sent.status}`);
  for (;;) {
    const page = (await (await fetch(base, { headers: { authorization } })).json()) as VideoPageView;
    const state = page.data.find(({ id }) => id === video.id)?.state;
    if (state === "completed") return video.id;
    if (state === "failed") throw new Error("the sample could not be transcribed");
    await delay(POLL_INTERVAL_MS);
  }
}
