// The API without the client, but for its types: what any language with HTTP can do.
// `SUBTEXT_URL=… SUBTEXT_API_KEY=… node transcribe.ts meeting.mp4`
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { CreatedVideo, Transcription } from "@subtext/client";

const baseUrl = process.env.SUBTEXT_URL ?? "http://localhost:8080";
const authorization = `Bearer ${process.env.SUBTEXT_API_KEY}`;
const [, , path = ""] = process.argv;
const file = await readFile(path);

const TIMEOUT_MS = 30_000;

/** A problem (RFC 9457) says in `code` what went wrong. */
async function check(response: Response): Promise<Response> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}

// 1. A video, and a URL for its bytes. The key makes a repetition of this request the same deed.
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

// 2. The bytes (tus 1.0). After a cut connection, `Upload-Offset` of a HEAD says where to go on.
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

// 3. The transcription, asked for as often as `Retry-After` says. A webhook spares you this.
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
  // 4. The files, at once: their URLs live for five minutes, and need no key.
  const text = files
    ? await (await check(await fetch(files.txt.url, { signal: AbortSignal.timeout(TIMEOUT_MS) }))).text()
    : null;
  console.log(JSON.stringify({ videoId: video.id, status, language, text }));
  break;
}
