import { createHash } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { seedEveryState } from "../../../dashboard/test/seed-videos.ts";
import type { VideoFilterValuesView, VideoPageView, VideoView } from "../../src/admin/contract/video.ts";
import { SORT_DIRECTIONS, VIDEO_SORTS, type VideoSort } from "../../src/db/enums.ts";
import type { Db } from "../../src/db/schema.ts";
import { newId } from "../../src/lib/ids.ts";
import { listFilterValues, listMatchingVideos } from "../../src/videos/list-view.ts";
import { insertVideo } from "../../src/videos/queries.ts";
import { countRowsRead } from "../support/rows-read.ts";
import { createTenant, shareService } from "../support/service.ts";
import { codeOf, sendAsCommandLine } from "./operator-requests.ts";

const subtext = shareService({ start: false });
const open = () => subtext.service.parts.database.kysely;
let environmentId: string;

beforeAll(async () => {
  ({ environmentId } = await createTenant(subtext));
  await seedEveryState(subtext.service, environmentId);
  await seedEveryState(subtext.service, environmentId);
  const { environmentId: other } = await createTenant(subtext);
  await seedEveryState(subtext.service, other);
});

function request(query: Record<string, string>) {
  const search = new URLSearchParams(query);
  return sendAsCommandLine(subtext, `/environments/${environmentId}/videos?${search}`);
}

async function list(query: Record<string, string> = {}): Promise<VideoView[]> {
  const videos: VideoView[] = [];
  let cursor: string | null = null;
  do {
    const response = await request({ limit: "3", ...query, ...(cursor !== null && { cursor }) });
    expect(response.statusCode).toBe(200);
    const page: VideoPageView = response.json();
    videos.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return videos;
}

const names = async (query: Record<string, string>) =>
  new Set((await list(query)).map(({ filename }) => filename));

function sortValue(video: VideoView, sort: VideoSort): string | number | null {
  if (sort === "uploaded") return video.id;
  if (sort === "name") return (video.filename ?? video.id).toLowerCase();
  return video.transcription?.[sort === "words" ? "wordCount" : "duration"] ?? null;
}

test.each(VIDEO_SORTS.flatMap((sort) => SORT_DIRECTIONS.map((order) => [sort, order] as const)))(
  "every video is listed once across pages, by %s %s; those without a value are last, newest first",
  async (sort, order) => {
    const listed = await list({ sort, order });
    const sign = order === "asc" ? 1 : -1;
    const expected = [...listed].sort((a, b) => {
      const [left, right] = [sortValue(a, sort), sortValue(b, sort)];
      if (left === null && right === null) return a.id < b.id ? 1 : -1;
      if (left === null || right === null) return left === null ? 1 : -1;
      return (left < right || (left === right && a.id < b.id) ? -1 : 1) * sign;
    });
    expect(listed.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(new Set(listed.map(({ id }) => id)).size).toBe(18);
    expect(listed).toHaveLength(18);
  },
);

test.each([
  [{ text: "DIRECTORA" }, ["entrevista con la directora.mov"]],
  // Names of metadata do not count.
  [{ text: "filename" }, []],
  [{ text: "%" }, []],
  [{ text: "b-roll_harbour" }, []],
  [{ language: "es" }, ["entrevista con la directora.mov"]],
  [{ failure: "unreadable_media" }, ["notes.pdf.mp4"]],
  [{ failure: "engine_hung" }, []],
  [{ failure: "unreadable_media", state: "completed" }, []],
  [{ state: "completed", text: "hands", sort: "duration" }, ["all-hands-2026-03.mp4"]],
  [{ state: "uploading", sort: "words" }, ["phone-recording.mp4"]],
  [{ state: "failed", sort: "name" }, ["notes.pdf.mp4"]],
  [{ until: "2001-01-01T00:00:00Z" }, []],
])("the filter %j finds %j", async (filter: Record<string, string>, found) => {
  expect(await names(filter)).toEqual(new Set(found));
});

test("a video is found by its metadata, its id, the id of its transcription and its time", async () => {
  const [completed] = await list({ state: "completed" });
  const about = completed!;
  for (const text of [about.id, about.transcription!.id]) {
    expect((await list({ text })).map(({ id }) => id)).toEqual([about.id]);
  }
  const { id } = await insertVideo(open(), {
    id: newId("video"),
    environmentId,
    metadata: { filename: 'the "best" \\ of 100%.mp4', customer: "Zoë & Söhne" },
    sizeBytes: 1,
    now: new Date("2020-05-06T07:08:09Z"),
  });
  const time = "2020-05-06T07:08:09Z";
  for (const query of [
    { text: "zoë & s" },
    { text: '"best" \\' },
    { text: "100%." },
    { until: "2020-05-06T07:08:10Z" },
    { from: time, until: "2020-05-06T07:08:10Z" },
  ])
    expect((await list(query)).map((video) => video.id)).toEqual([id]);
  expect((await list({ until: time })).map((video) => video.id)).toEqual([]);
  await open().deleteFrom("video").where("id", "=", id).execute();
});

test("the longest name that metadata may contain can be stored and sorted", async () => {
  const filename = "ß".repeat(1900);
  const { id } = await insertVideo(open(), {
    id: newId("video"),
    environmentId,
    metadata: { filename },
    sizeBytes: 1,
    now: new Date(),
  });
  const listed = await list({ sort: "name", limit: "1" });
  expect(listed.map((video) => video.id)).toContain(id);
  await open().deleteFrom("video").where("id", "=", id).execute();
});

test("the list offers the languages and failures that occur in the environment", async () => {
  const response = await sendAsCommandLine(subtext, `/environments/${environmentId}/video-filters`);
  const expected: VideoFilterValuesView = { languages: ["en", "es"], failures: ["unreadable_media"] };
  expect(response.json()).toEqual(expected);
});

test.each([
  { sort: "size" },
  { text: "" },
  { text: "\0" },
  { from: "yesterday" },
  { from: "2016-12-31T23:59:60Z" },
  { cursor: "none" },
  ...[
    ["name", [1, "video_1"]],
    ["name", [null, "video_1"]],
    ["name", ["a\0", "video_1"]],
    ["words", [1.5, "video_1"]],
    ["words", [2 ** 40, "video_1"]],
    ["uploaded", ["a", "video_1"]],
    ["duration", ["a", "video_1"]],
    ["duration", [1, "video 1"]],
    ["duration", {}],
  ].map(([sort, value]) => ({
    sort: String(sort),
    cursor: Buffer.from(JSON.stringify(value)).toString("base64url"),
  })),
])("the query %j is refused", async (query: Record<string, string>) => {
  expect(codeOf(await request(query))).toEqual([400, "invalid_request"]);
});

describe("with many videos", () => {
  const VIDEOS = 3_000;
  const LIMIT = 20;
  let many: string;

  beforeAll(async () => {
    ({ environmentId: many } = await createTenant(subtext));
    const db = open();
    const numbers = sql`generate_series(1, ${VIDEOS}::int) as number`;
    const id = (kind: string) => sql`${kind} || '_' || lpad(number::text, 26, '0')`;
    await sql`
      insert into video (id, environment_id, metadata, size_bytes, created_at, uploaded_at, ai_transcription)
      select ${id("video")}, ${many}, jsonb_build_object('filename', md5(number::text)), 1, now(), now(), true
      from ${numbers}`.execute(db);
    await sql`
      insert into transcription (id, video_id, environment_id, status, job_id, created_at, queued_at, finished_at,
        file_prefix, duration, word_count, language)
      select ${id("transcription")}, ${id("video")}, ${many}, 'COMPLETED', gen_random_uuid(), now(), now(), now(),
        'transcripts/' || number, number % 100, number % 70, case when number % 1000 = 0 then 'fi' else 'en' end
      from ${numbers}`.execute(db);
    await sql`analyze`.execute(db);
  });

  test.each(VIDEO_SORTS.flatMap((by) => SORT_DIRECTIONS.map((direction) => ({ by, direction }))))(
    "only the videos of a page are read in the order %j, on the first page and in the middle",
    async (order) => {
      const page = (
        after: Awaited<ReturnType<typeof listMatchingVideos>>[number]["position"] | null,
        limit = LIMIT,
      ) => listMatchingVideos(open(), many, { filter: {}, order, after, limit });
      const middle = (await page(null, VIDEOS / 2)).at(-1)!.position;
      for (const after of [null, middle]) {
        const read = await countRowsRead(open(), (db) =>
          listMatchingVideos(db, many, { filter: {}, order, after, limit: LIMIT }),
        );
        expect(read).toBeLessThanOrEqual(3 * LIMIT);
      }
    },
  );

  test.each([
    ["a part of its name", createHash("md5").update("77").digest("hex").slice(3, 20)],
    ["its id", `video_${"77".padStart(26, "0")}`],
    ["the id of its transcription", `transcription_${"77".padStart(26, "0")}`],
  ])("a video is found by %s without reading every video", async (_, text) => {
    const order = { by: "uploaded", direction: "desc" } as const;
    const search = (db: Db) =>
      listMatchingVideos(db, many, { filter: { text }, order, after: null, limit: LIMIT });
    expect(await search(open())).toMatchObject([{ metadata: { filename: expect.any(String) } }]);
    expect(await countRowsRead(open(), search)).toBeLessThan(LIMIT);
  });

  test("the languages are found without reading every transcription", async () => {
    const read = await countRowsRead(open(), (db) => listFilterValues(db, many));
    expect(read).toBeLessThan(VIDEOS / 10);
    expect((await listFilterValues(open(), many)).languages).toEqual(["en", "fi"]);
  });
});
