// Uses the API with plain `fetch`. Only the types come from the client, so this is easy to port to other languages.
// `SUBTEXT_URL=… SUBTEXT_API_KEY=… node transcribe.ts meeting.mp4`
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { CreatedVideo, Transcription } from "@subtext/client";

const baseUrl = process.env.SUBTEXT_URL ?? "http://localhost:8080";
const authorization = `Bearer ${process.env.SUBTEXT_API_KEY}`;
const [, , path = ""] = process.argv;
const file = await readFile(path);

const TIMEOUT_MS = 30_000;

/** The body of an error response is a problem (RFC 9457) with a stable `code`. */
async function check(response: Response): Promise<Response> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}

// 1. Create a video with an upload URL. The idempotency key makes retries of this request safe.
const created = await check(
  await fetch(`${baseUrl}/api/v1/videos`, {
    method: "POST",
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      authorization,
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID(),
    },
    body: JSON.stringify({ sizeBytes: file.length, filename: basename(path) }),
  }),
);
const { video, upload } = (await created.json()) as CreatedVideo;

// 2. Upload the file (tus 1.0). After a connection error, a HEAD request returns the `Upload-Offset` to resume from.
await check(
  await fetch(upload.url, {
    method: "PATCH",
    headers: {
      "tus-resumable": "1.0.0",
      "upload-offset": "0",
      "content-type": "application/offset+octet-stream",
    },
    body: file,
  }),
);

// 3. Poll the transcription at the interval given in `Retry-After`. With a webhook, no polling is needed.
for (;;) {
  const url = `${baseUrl}/api/v1/videos/${video.id}/transcription`;
  const response = await check(
    await fetch(url, { headers: { authorization }, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  );
  const { status, language, files } = (await response.json()) as Transcription;
  if (status === "PENDING" || status === "PROCESSING") {
    const seconds = Number(response.headers.get("retry-after") ?? 2);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    continue;
  }
  // 4. Download the files now: their URLs need no key, but expire after five minutes.
  const text = files
    ? await (await check(await fetch(files.txt.url, { signal: AbortSignal.timeout(TIMEOUT_MS) }))).text()
    : null;
  console.log(JSON.stringify({ videoId: video.id, status, language, text }));
  break;
}
