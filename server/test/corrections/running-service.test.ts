import type { SavedWords, TranscriptWords } from "@subtext/client/contract/transcript-words";
import { expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { fileKey, filePrefix } from "../../src/storage/transcript-files.ts";
import { emitEvent } from "../../src/webhooks/emit.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { indexSeeded, type SeededTranscript, seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, shareService, type Tenant, until } from "../support/service.ts";
import { startVerifyingReceiver } from "../support/verifying-receiver.ts";

/** Its jobs run by themselves. */
const subtext = shareService();

async function seed({ environmentId }: Tenant): Promise<SeededTranscript> {
  const { transcripts } = subtext.service.parts;
  return await seedTranscript(subtext.service, {
    environmentId,
    language: "en",
    text: "Hello wold again.",
    async store({ transcriptionId }) {
      for (const format of ["vtt", "txt"] as const) {
        const key = fileKey(filePrefix(transcriptionId, 1), format);
        await transcripts.put(key, Buffer.from("Hello wold again."));
      }
    },
  });
}

/** Replaces "wold" with two words, with the API. */
async function correct({ key }: Tenant, videoId: string): Promise<void> {
  const url = `${subtext.url}/api/v1/videos/${videoId}/transcription/words`;
  const authorization = `Bearer ${key}`;
  const read = await fetch(url, { headers: { authorization } });
  const { etag, words } = (await read.json()) as TranscriptWords;
  const corrected = [
    words[0]!,
    { word: "zebra", start: 0.5, end: 0.8 },
    { word: "world", start: 0.8, end: 1 },
    words[2]!,
  ];
  const saved = await fetch(url, {
    method: "PUT",
    headers: { authorization, "content-type": "application/json", "if-match": etag },
    body: JSON.stringify({ words: corrected }),
  });
  expect(saved.status).toBe(200);
  expect(((await saved.json()) as SavedWords).revision).toBe(1);
}

test("a redelivered completed event carries the files and the word count of the corrected transcript", async () => {
  const tenant = await createTenant(subtext);
  const receiver = await startVerifyingReceiver();
  const { database, endpointPolicy, queue } = subtext.service.parts;
  const db = database.kysely;
  const endpoint = await createWebhookEndpoint(
    { db, clock: systemClock, policy: endpointPolicy },
    { environmentId: tenant.environmentId, url: receiver.url },
  );
  receiver.trust(endpoint.secret);
  const { videoId, transcriptionId } = await seed(tenant);
  const about = { id: transcriptionId, environment_id: tenant.environmentId };
  await db
    .transaction()
    .execute((tx) =>
      emitEvent({ tx, queue, now: new Date() }, about, "transcriptions.transcription.completed", {}),
    );
  const first = await until(async () => receiver.received[0]);
  expect(first.payload.data.wordCount).toBe(3);
  const path = `/webhook-endpoints/${endpoint.id}/deliveries`;
  const delivery = await until(async () => {
    const { data } = (await sendAsCommandLine(subtext, path)).json<{
      data: { id: string; status: string }[];
    }>();
    return data.find(({ status }) => status === "succeeded");
  });

  await correct(tenant, videoId);
  const redelivered = await sendAsCommandLine(subtext, `${path}/${delivery.id}/redeliver`, {
    method: "POST",
  });
  expect(redelivered.statusCode).toBe(202);
  const second = await until(async () => receiver.received[1]);
  expect(second.id).toBe(first.id);
  const { data, type } = second.payload;
  expect({ type, wordCount: data.wordCount, completedAt: data.completedAt }).toEqual({
    type: "transcriptions.transcription.completed",
    wordCount: 4,
    completedAt: first.payload.data.completedAt,
  });
  const text = async (format: "vtt" | "json" | "txt") => await (await fetch(data.files![format].url)).text();
  expect(await text("txt")).toBe("Hello zebra world again.\n");
  expect(await text("vtt")).toContain("Hello zebra world again.");
  expect(await text("json")).toContain('"zebra"');
});

test("search finds the words of a correction, and no longer finds those that it replaced", async () => {
  const tenant = await createTenant(subtext);
  const seeded = await seed(tenant);
  await indexSeeded(subtext.service, seeded);
  const isFound = async (word: string) => {
    const path = `/environments/${tenant.environmentId}/search?q=${word}`;
    const found = (await sendAsCommandLine(subtext, path)).json<{ data: { videoId: string }[] }>();
    return found.data.some(({ videoId }) => videoId === seeded.videoId);
  };
  expect(await isFound("wold")).toBe(true);
  await correct(tenant, seeded.videoId);
  await until(() => isFound("zebra"));
  expect(await isFound("wold")).toBe(false);
});
