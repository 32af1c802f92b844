import { text } from "node:stream/consumers";
import type { EditableWord, SavedWords, TranscriptWords } from "@subtext/client/contract/transcript-words";
import type { Transcription } from "@subtext/client/contract/transcription";
import { beforeAll, describe, expect, test } from "vitest";
import type { RevisionView, RevisionWordsView } from "../../src/admin/contract/transcript-words.ts";
import type { TranscriptWordsView, VideoDetailView } from "../../src/admin/contract/video-detail.ts";
import { checkAllFiles } from "../../src/cleanup/sweep-missing-files.ts";
import { sweepStoredFiles } from "../../src/cleanup/sweep-stored-files.ts";
import { sendUpdatedEvent } from "../../src/corrections/updated-event.ts";
import {
  channelsKey,
  confidenceKey,
  fileKey,
  filePrefix,
  TRANSCRIPTS_PREFIX,
} from "../../src/storage/transcript-files.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { addOperator, codeOf, cookieOf, send, setUp, signIn } from "../admin/operator-requests.ts";
import { indexSeeded, seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, MovableClock, shareService, type Tenant } from "../support/service.ts";

const MINUTE_MS = 60_000;
const clock = new MovableClock();
const subtext = shareService({ start: false, clock });
let tenant: Tenant;
/** Cookies of signed-in operators. */
let editor: string;
let colleague: string;

beforeAll(async () => {
  tenant = await createTenant(subtext, { clock });
  await setUp(subtext);
  const join = async (name: string) =>
    cookieOf(
      await signIn(
        subtext,
        await addOperator(subtext, { name, email: `${name.toLowerCase()}@example.com`, role: "editor" }),
      ),
    );
  editor = await join("Ed");
  colleague = await join("Cora");
});

/** A video with the words "Hello wold again." and the calls that an editor's page makes. */
async function seeded({
  as = editor,
  confidences,
  channels,
}: {
  as?: string;
  confidences?: (number | null)[];
  channels?: number[];
} = {}) {
  const { transcripts } = subtext.service.parts;
  const made = await seedTranscript(subtext.service, {
    environmentId: tenant.environmentId,
    language: "en",
    text: "Hello wold again.",
    async store({ transcriptionId }) {
      const prefix = filePrefix(transcriptionId, 1);
      for (const format of ["vtt", "txt"] as const)
        await transcripts.put(fileKey(prefix, format), Buffer.from("x"));
      if (channels) await transcripts.put(channelsKey(prefix), Buffer.from(JSON.stringify(channels)));
      if (confidences) await transcripts.put(confidenceKey(prefix), Buffer.from(JSON.stringify(confidences)));
    },
  });
  const path = `/environments/${tenant.environmentId}/videos/${made.videoId}`;
  const headersOf = (cookie: string) => ({ cookie, origin: subtext.url });
  const ask = async (below: string, cookie = as) =>
    await send(subtext, path + below, { headers: headersOf(cookie) });
  return {
    ...made,
    ask,
    read: async () => (await ask("/words")).json<TranscriptWords>(),
    revisions: async () => (await ask("/revisions")).json<{ data: RevisionView[] }>().data,
    async put(
      words: readonly object[],
      {
        etag,
        editSessionId = "one",
        cookie = as,
      }: { etag?: string; editSessionId?: string; cookie?: string },
    ) {
      const headers = { ...headersOf(cookie), ...(etag !== undefined && { "if-match": etag }) };
      return await send(subtext, `${path}/words`, { method: "PUT", headers, body: { editSessionId, words } });
    },
    async restore(revision: number, etag: string) {
      const headers = { ...headersOf(as), "if-match": etag };
      return await send(subtext, `${path}/revisions/${revision}/restore`, { method: "POST", headers });
    },
  };
}

type Seeded = Awaited<ReturnType<typeof seeded>>;

const withWord = (words: readonly EditableWord[], index: number, word: string) =>
  words.with(index, { ...words[index]!, word, confidence: null });

/** Saves the transcript with another second word. */
async function correct(
  video: Seeded,
  word: string,
  options: { editSessionId?: string; cookie?: string } = {},
) {
  const { etag, words } = await video.read();
  const saved = await video.put(withWord(words, 1, word), { etag, ...options });
  expect(saved.statusCode).toBe(200);
  return saved.json<SavedWords>();
}

function searching(video: Seeded) {
  return {
    /** Runs the job that indexes the current words. */
    async index(): Promise<void> {
      const { job_id } = await subtext.service.parts.database.kysely
        .selectFrom("search_document")
        .select("job_id")
        .where("transcription_id", "=", video.transcriptionId)
        .executeTakeFirstOrThrow();
      await indexSeeded(subtext.service, { transcriptionId: video.transcriptionId, jobId: job_id });
    },
    async hits(q: string): Promise<{ videoId: string }[]> {
      const path = `/environments/${tenant.environmentId}/search?q=${q}`;
      const found = await send(subtext, path, { headers: { cookie: editor } });
      return found
        .json<{ data: { videoId: string }[] }>()
        .data.filter((hit) => hit.videoId === video.videoId);
    },
  };
}

async function readPublic(videoId: string): Promise<Transcription> {
  const response = await fetch(`${subtext.url}/api/v1/videos/${videoId}/transcription`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  return (await response.json()) as Transcription;
}

async function storedPrefixes({ transcriptionId }: Seeded): Promise<string[]> {
  const keys = await Array.fromAsync(
    subtext.service.parts.transcripts.list(`${TRANSCRIPTS_PREFIX}${transcriptionId}/`),
  );
  return [...new Set(keys.map((key) => key.split("/")[2]!))].sort();
}

const sweep = async () => {
  const { database, recordings, transcripts, ownership, log } = subtext.service.parts;
  const deps = { db: database.kysely, recordings, transcripts, ownership, clock, log };
  await sweepStoredFiles(deps, new AbortController().signal);
};

describe("a correction", () => {
  test("keeps the channels of a call even if the client omits them, and captions do not mix channels", async () => {
    const video = await seeded({ channels: [1, 2, 2] });
    const { etag, words } = await video.read();
    expect(words.map(({ channel }) => channel)).toEqual([1, 2, 2]);
    const view = (await video.ask("/transcript")).json<TranscriptWordsView>();
    expect(view).toMatchObject({ channels: [1, 2], paragraphs: [0, 1], speakers: null });
    const withoutChannels = withWord(words, 1, "world").map(({ channel: _, ...word }) => word);
    const inserted = { word: "oh", start: 1, end: 1 };
    const saved = await video.put([...withoutChannels.slice(0, 2), inserted, withoutChannels[2]!], { etag });
    expect(saved.statusCode).toBe(200);
    const after = await video.read();
    expect(after.words.map(({ word, channel }) => [word, channel])).toEqual([
      ["Hello", 1],
      ["world", 2],
      ["oh", 2],
      ["again.", 2],
    ]);
    const { files } = await readPublic(video.videoId);
    expect(await (await fetch(files!.txt.url)).text()).toBe("Hello\n\nworld oh again.\n");
    expect(await (await fetch(files!.json.url)).text()).not.toContain("channel");
    expect(await (await fetch(files!.vtt.url)).text()).toMatch(/\nHello\n\n.*\nworld oh again.\n/);
    const changed = await video.put(
      after.words.map((word) => ({ ...word, channel: 1 })),
      { etag: after.etag },
    );
    expect(changed.statusCode).toBe(200);
    expect((await video.read()).words.map(({ channel }) => channel)).toEqual([1, 1, 1, 1]);
    const invalid = await video.put(
      words.map((word) => ({ ...word, channel: 3 })),
      { etag: changed.json<SavedWords>().etag },
    );
    expect(invalid.statusCode).toBe(400);
  });

  test("changes the three files, the word count and the page, but neither times nor completedAt", async () => {
    const video = await seeded({ confidences: [0.9, 0.2, 0.8] });
    const before = await readPublic(video.videoId);
    const { etag, revision, words } = await video.read();
    expect([etag, revision]).toEqual(['"0.0"', 0]);
    expect(words[1]).toEqual({
      word: "wold",
      start: 0.5,
      end: 1,
      speaker: null,
      confidence: 0.2,
      channel: null,
    });
    const changed = withWord(words, 1, "world").map((word) => ({ ...word, speaker: "Ada" }));
    const inserted = { word: "once", start: 1, end: 1, speaker: "Bo" };
    const saved = await video.put([...changed.slice(0, 2), inserted, changed[2]!], { etag });
    expect(saved.json<SavedWords>()).toEqual({ etag: '"1.1"', revision: 1 });

    const after = await readPublic(video.videoId);
    expect(Object.keys(after)).toHaveLength(10);
    expect(after).toMatchObject({ wordCount: 4, completedAt: before.completedAt });
    const file = async (format: "vtt" | "json" | "txt") =>
      await (await fetch(after.files![format].url)).text();
    expect(await file("txt")).toContain("Hello world once again.");
    expect(await file("vtt")).toContain("Hello world once again.");
    expect(JSON.parse(await file("json"))).toEqual([
      { word: "Hello", start: 0, end: 0.5 },
      { word: "world", start: 0.5, end: 1 },
      { word: "once", start: 1, end: 1 },
      { word: "again.", start: 1, end: 1.5 },
    ]);
    expect((await video.read()).words.map(({ speaker, confidence }) => [speaker, confidence])).toEqual([
      ["Ada", 0.9],
      ["Ada", null],
      ["Bo", null],
      ["Ada", 0.8],
    ]);
    for (const format of ["vtt", "json", "txt"] as const) expect(await file(format)).not.toContain("Ada");
    const detail = (await video.ask("")).json<VideoDetailView>();
    expect(detail.transcription).toMatchObject({ wordsEtag: '"1.1"', wordCount: 4 });
    // URLs that were signed before keep serving the original.
    expect((await fetch(before.files!.vtt.url)).status).toBe(200);
  });

  test("that names speakers can be downloaded with their names", async () => {
    const video = await seeded();
    const { etag, words } = await video.read();
    const named = words.map((word, index) => ({ ...word, speaker: index === 0 ? "Ada" : "Bo <b>" }));
    expect((await video.put(named, { etag })).statusCode).toBe(200);
    const text = async (format: string) => (await video.ask(`/speaker-files/${format}`)).body;
    expect(await text("txt")).toBe("Ada: Hello\n\nBo <b>: wold again.\n");
    expect(await text("srt")).toMatch(/\nAda: Hello\n\n2\n.*\nBo <b>: wold again.\n$/);
    expect(await text("vtt")).toMatch(/\n<v Ada>Hello\n\n.*\n<v Bo &lt;b&gt;>wold again.\n$/);
    const { headers } = await video.ask("/speaker-files/srt");
    expect(headers["content-disposition"]).toMatch(/^attachment; filename="made\.en\.speakers\.srt"/);
    expect(codeOf(await video.ask("/speaker-files/json"))).toEqual([404, "transcript_not_found"]);
  });

  test("of words that somebody else has changed is refused, and nothing is lost", async () => {
    const video = await seeded();
    const { etag, words } = await video.read();
    const puts = await Promise.all([
      video.put(withWord(words, 1, "world"), { etag }),
      video.put(withWord(words, 1, "word"), { etag, cookie: colleague }),
    ]);
    const codes = puts.map((response) => response.statusCode).sort();
    expect(codes).toEqual([200, 412]);
    const winner = puts.find(({ statusCode }) => statusCode === 200)!.json<SavedWords>();
    expect(await video.read()).toMatchObject(winner);
    expect(codeOf(puts.find(({ statusCode }) => statusCode === 412)!)).toEqual([412, "transcript_changed"]);
    expect(await video.revisions()).toHaveLength(2);
    expect(codeOf(await video.put(words, {}))).toEqual([428, "precondition_required"]);
    // A proxy that compresses responses weakens their ETags.
    expect((await video.put(words, { etag: `W/${winner.etag}` })).statusCode).toBe(200);
  });

  test("is found by search, and the old words no longer are", async () => {
    const video = await seeded();
    await indexSeeded(subtext.service, video);
    const { index, hits } = searching(video);
    expect(await hits("wold")).toHaveLength(1);
    await correct(video, "zebra");
    expect(await hits("wold")).toHaveLength(1);
    await index();
    expect(await hits("wold")).toEqual([]);
    expect(await hits("zebra")).toHaveLength(1);
    // The job of the previous words cannot bring them back.
    await indexSeeded(subtext.service, video);
    const { etag } = await video.read();
    await video.put([], { etag });
    await index();
    expect(await hits("zebra")).toEqual([]);
  });

  test("while the transcript is being indexed is found by search, and the old words are not", async () => {
    const video = await seeded();
    const { index, hits } = searching(video);
    const { transcripts } = subtext.service.parts;
    const read = async (key: string) => {
      await correct(video, "zebra");
      return await transcripts.read(key);
    };
    const correcting = Object.create(transcripts, { read: { value: read } });
    await indexSeeded(subtext.service, video, { transcripts: correcting });
    expect(await hits("wold")).toEqual([]);
    await index();
    expect(await hits("wold")).toEqual([]);
    expect(await hits("zebra")).toHaveLength(1);
  });

  test.each([
    ["an empty word", { word: " \u200b" }, "is empty"],
    ["a long word", { word: "x".repeat(201) }, "has more than 200 characters"],
    ["a control character", { word: "a\u0007" }, "contains a control character"],
    ["a long speaker", { speaker: "x".repeat(101) }, "has a speaker name with more than 100 characters"],
    ["an overlap", { start: 0.4 }, "starts before the previous word ends"],
    ["a negative duration", { start: 0.9, end: 0.8 }, "ends before it starts"],
    ["a word after the end", { end: 1.6 }, "ends after the recording does"],
  ])("with %s is refused, and the error names the word", async (_name, change, message) => {
    const video = await seeded();
    const { etag, words } = await video.read();
    const refused = await video.put(words.slice(0, 2).with(1, { ...words[1]!, ...change }), { etag });
    expect(codeOf(refused)).toEqual([422, "invalid_words"]);
    expect(refused.json<{ detail: string }>().detail).toBe(`words[1] ${message}.`);
    expect(await storedPrefixes(video)).toEqual(["1"]);
  });

  test("is normalized like recognized words", async () => {
    const video = await seeded();
    const { etag } = await video.read();
    await video.put(
      [
        { word: "New York", start: 0, end: 0.8, speaker: " Ada " },
        { word: "!", start: 0.8, end: 1 },
      ],
      { etag },
    );
    expect((await video.read()).words).toEqual([
      { word: "New", start: 0, end: 0.343, speaker: "Ada", confidence: null, channel: null },
      { word: "York!", start: 0.343, end: 0.8, speaker: "Ada", confidence: null, channel: null },
    ]);
  });

  test("needs a completed transcription", async () => {
    const video = await seeded();
    const { database } = subtext.service.parts;
    await database.kysely
      .updateTable("transcription")
      .set({ status: "FAILED", file_prefix: null })
      .where("id", "=", video.transcriptionId)
      .execute();
    for (const response of [await video.ask("/words"), await video.put([], { etag: '"0.0"' })]) {
      expect(codeOf(response)).toEqual([409, "transcription_not_completed"]);
    }
  });
});

describe("revisions", () => {
  test("are shared by saves of a session until 10 minutes pass, another begins or somebody else saves", async () => {
    const video = await seeded();
    expect(await video.revisions()).toMatchObject([
      { revision: 0, actor: null, isCurrent: true, wordCount: 3 },
    ]);
    expect(await correct(video, "a")).toEqual({ etag: '"1.1"', revision: 1 });
    expect(await correct(video, "b")).toEqual({ etag: '"1.2"', revision: 1 });
    clock.advance(11 * MINUTE_MS);
    expect((await correct(video, "c")).revision).toBe(2);
    expect((await correct(video, "d", { editSessionId: "two" })).revision).toBe(3);
    expect((await correct(video, "e", { editSessionId: "two", cookie: colleague })).revision).toBe(4);
    const revisions = await video.revisions();
    expect(
      revisions.map(({ revision, actor, isCurrent, changedWords }) => [
        revision,
        actor?.name,
        isCurrent,
        changedWords,
      ]),
    ).toEqual([
      [4, "Cora", true, 1],
      [3, "Ed", false, 1],
      [2, "Ed", false, 1],
      [1, "Ed", false, 1],
      [0, undefined, false, 0],
    ]);
    const words = async (revision: number) =>
      (await video.ask(`/revisions/${revision}`)).json<RevisionWordsView>().words[1]!.word;
    expect(await Promise.all([0, 1, 2, 3, 4].map(words))).toEqual(["wold", "b", "c", "d", "e"]);
    for (const revision of ["5", "-1", "1234567890"]) {
      const detail = `The transcript has no revision ${revision}.`;
      expect((await video.ask(`/revisions/${revision}`)).json()).toMatchObject({
        code: "revision_not_found",
        detail,
      });
    }
    const { database } = subtext.service.parts;
    const audited = await database.kysely
      .selectFrom("audit_event")
      .select(["action", "actor_name"])
      .where("subject_id", "=", video.videoId)
      .orderBy("id")
      .execute();
    // One event for each editing session.
    expect(audited.map(({ actor_name }) => actor_name)).toEqual([
      ...Array.from({ length: 3 }, () => "ed@example.com"),
      "cora@example.com",
    ]);
  });

  test("are restored as new ones", async () => {
    const video = await seeded();
    const { etag } = await correct(video, "world");
    expect(codeOf(await video.restore(0, '"0.0"'))).toEqual([412, "transcript_changed"]);
    expect((await video.restore(0, etag)).json<SavedWords>()).toEqual({ etag: '"2.2"', revision: 2 });
    expect((await video.read()).words.map(({ word }) => word)).toEqual(["Hello", "wold", "again."]);
    // Edits after a restore do not replace it.
    expect((await correct(video, "world")).revision).toBe(3);
    expect(await video.revisions()).toHaveLength(4);
  });

  test("keep their files, and those of replaced saves are deleted once signed URLs have expired", async () => {
    const video = await seeded();
    await correct(video, "a");
    const { files } = await readPublic(video.videoId);
    await correct(video, "b");
    clock.advance(5 * MINUTE_MS);
    await sweep();
    expect(await storedPrefixes(video)).toHaveLength(3);
    const replaced = await subtext.service.parts.transcripts.read(
      new URL(files!.txt.url).pathname.split("/files/")[1]!,
    );
    expect(await text(replaced)).toContain("Hello a again.");
    clock.advance(2 * 60 * MINUTE_MS);
    await sweep();
    const left = await storedPrefixes(video);
    expect(left).toEqual(["1", expect.stringMatching(/^edit-2-/)]);
    expect((await video.read()).words[1]?.word).toBe("b");
    expect((await video.ask("/revisions/0")).statusCode).toBe(200);
  });

  test("with missing files are found by the file check", async () => {
    const video = await seeded();
    await correct(video, "a");
    const { queue, recordings, transcripts, database, log } = subtext.service.parts;
    const db = database.kysely;
    const missing = async () => {
      await checkAllFiles({ db, queue, recordings, transcripts, clock, log }, new AbortController().signal);
      const rows = await db
        .selectFrom("missing_file")
        .select("part")
        .where("video_id", "=", video.videoId)
        .execute();
      return rows.map(({ part }) => part).filter((part) => part === "transcript");
    };
    expect(await missing()).toEqual([]);
    await transcripts.remove(fileKey(filePrefix(video.transcriptionId, 1), "json"));
    expect(await missing()).toEqual(["transcript"]);
  });
});

test("a transcript from before a format was added gets it with its first correction", async () => {
  const video = await seeded();
  const { database, queue, recordings, transcripts, log } = subtext.service.parts;
  const db = database.kysely;
  await transcripts.remove(fileKey(filePrefix(video.transcriptionId, 1), "txt"));
  await db
    .updateTable("transcription")
    .set({ file_formats: JSON.stringify(["vtt", "json"]) })
    .where("id", "=", video.transcriptionId)
    .execute();
  expect(codeOf(await video.ask("/files/txt"))).toEqual([404, "transcript_not_found"]);

  await correct(video, "world");
  const { files } = await readPublic(video.videoId);
  expect(Object.keys(files!)).toEqual(["vtt", "json", "txt"]);
  for (const { url } of Object.values(files!)) {
    const file = await fetch(url);
    expect([file.status, await file.text()]).toEqual([200, expect.stringContaining("world")]);
  }
  expect((await video.ask("/files/txt")).body).toBe("Hello world again.\n");
  expect((await video.ask("")).json<VideoDetailView>().transcription?.fileFormats).toEqual([
    "vtt",
    "json",
    "txt",
  ]);
  // The original still lacks the file, and nothing refers to it.
  await checkAllFiles({ db, queue, recordings, transcripts, clock, log }, new AbortController().signal);
  const missing = await db
    .selectFrom("missing_file")
    .select("part")
    .where("video_id", "=", video.videoId)
    .where("part", "=", "transcript")
    .execute();
  expect(missing).toEqual([]);
  const { etag } = await video.read();
  expect((await video.restore(0, etag)).statusCode).toBe(200);
  expect((await video.ask("/files/txt")).body).toBe("Hello wold again.\n");
});

describe("the event about corrections", () => {
  test("is sent 30 s after the last change, at most every 5 minutes, and at the latest 5 minutes after the first one", async () => {
    const video = await seeded();
    const { database, queue, endpointPolicy } = subtext.service.parts;
    const db = database.kysely;
    await createWebhookEndpoint(
      { db, clock, policy: endpointPolicy },
      {
        environmentId: tenant.environmentId,
        url: "http://127.0.0.1:9/",
        eventTypes: ["transcriptions.transcription.updated"],
      },
    );
    const job = async () =>
      (
        await db
          .selectFrom("transcript_update")
          .select("job_id")
          .where("transcription_id", "=", video.transcriptionId)
          .executeTakeFirstOrThrow()
      ).job_id;
    /** Runs the pending job, if there is one. @returns the number of events so far */
    const run = async (jobId: string | null) => {
      if (jobId)
        await sendUpdatedEvent({ db, queue, clock }, { id: jobId, subjectId: video.transcriptionId });
      const events = await db
        .selectFrom("event")
        .innerJoin("delivery", "delivery.event_id", "event.id")
        .select("event.type")
        .where("transcription_id", "=", video.transcriptionId)
        .execute();
      return events.length;
    };
    await correct(video, "a");
    clock.advance(20_000);
    await correct(video, "b");
    clock.advance(29_000);
    const first = await job();
    expect(await run(first)).toBe(0);
    clock.advance(1_000);
    // The job was postponed, so its predecessor does nothing.
    expect(await run(first)).toBe(0);
    expect(await run(await job())).toBe(1);
    expect(await job()).toBeNull();

    await correct(video, "c");
    clock.advance(4 * MINUTE_MS);
    expect(await run(await job())).toBe(1);
    clock.advance(MINUTE_MS);
    expect(await run(await job())).toBe(2);

    clock.advance(10 * MINUTE_MS);
    for (let seconds = 0; seconds < 300; seconds += 20) {
      await correct(video, `d${seconds}`);
      expect(await run(await job())).toBe(2);
      clock.advance(20_000);
    }
    expect(await run(await job())).toBe(3);

    // As if the clock had been a year ahead, first at the event and then at the change.
    const setAhead = async (...columns: ("sent_at" | "first_edit_at" | "last_edit_at")[]) => {
      const inAYear = new Date(clock.now().getTime() + 365 * 24 * 60 * MINUTE_MS);
      await db
        .updateTable("transcript_update")
        .set(Object.fromEntries(columns.map((column) => [column, inAYear])))
        .where("transcription_id", "=", video.transcriptionId)
        .execute();
    };
    await setAhead("sent_at");
    await correct(video, "e");
    clock.advance(30_000);
    expect(await run(await job())).toBe(4);
    clock.advance(5 * MINUTE_MS);
    await correct(video, "f");
    await setAhead("first_edit_at", "last_edit_at");
    expect(await run(await job())).toBe(5);
  });
});

describe("the public API", () => {
  const call = async (videoId: string, init: RequestInit & { headers?: Record<string, string> } = {}) => {
    const headers = {
      authorization: `Bearer ${tenant.key}`,
      "content-type": "application/json",
      ...init.headers,
    };
    return await fetch(`${subtext.url}/api/v1/videos/${videoId}/transcription/words`, { ...init, headers });
  };

  test("repeats the response to a request with the same idempotency key, although the words are newer", async () => {
    const video = await seeded();
    const read = await call(video.videoId);
    const { etag, words } = (await read.json()) as TranscriptWords;
    expect(read.headers.get("etag")).toBe(etag);
    const put = () =>
      call(video.videoId, {
        method: "PUT",
        headers: { "if-match": etag, "idempotency-key": `key-${video.videoId}` },
        body: JSON.stringify({ words: withWord(words, 1, "world") }),
      });
    const [first, second] = [await put(), await put()];
    expect([first.status, second.status]).toEqual([200, 200]);
    const saved = (await first.json()) as SavedWords;
    expect(saved).toEqual({ etag: '"1.1"', revision: 1 });
    expect(await second.json()).toEqual(saved);
    expect([first, second].map(({ headers }) => headers.get("etag"))).toEqual([saved.etag, saved.etag]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await video.revisions()).toMatchObject([
      { actor: { kind: "api_key", name: "test" } },
      { revision: 0 },
    ]);
  });

  test("accepts the words of a long recording, which are larger than other bodies", async () => {
    const video = await seeded();
    const { database } = subtext.service.parts;
    const duration = 9_000;
    await database.kysely
      .updateTable("transcription")
      .set({ duration })
      .where("id", "=", video.transcriptionId)
      .execute();
    const words = Array.from({ length: 30_000 }, (_, index) => ({
      word: "word",
      start: index * 0.3,
      end: index * 0.3 + 0.25,
      speaker: "A speaker with a name",
      confidence: 0.98,
    }));
    const saved = await call(video.videoId, {
      method: "PUT",
      headers: { "if-match": '"0.0"' },
      body: JSON.stringify({ words }),
    });
    expect(saved.status).toBe(200);
    expect((await readPublic(video.videoId)).wordCount).toBe(30_000);
  });
});
