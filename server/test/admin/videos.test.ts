import * as tus from "tus-js-client";
import { beforeAll, expect, test } from "vitest";
import { seedEveryState } from "../../../dashboard/test/seed-videos.ts";
import type { UploadOfferView, VideoPageView, VideoView } from "../../src/admin/contract/video.ts";
import { VIDEO_STATES } from "../../src/db/enums.ts";
import { changeEnvironment } from "../../src/environments/environments.ts";
import { newId } from "../../src/lib/ids.ts";
import { insertVideo } from "../../src/videos/queries.ts";
import { createTenant, shareService } from "../support/service.ts";
import { codeOf, sendAsCommandLine } from "./operator-requests.ts";

const subtext = shareService({ start: false, env: { MAX_UPLOAD_BYTES: "1000000" } });
let environmentId: string;

beforeAll(async () => {
  ({ environmentId } = await createTenant(subtext));
  await seedEveryState(subtext.service, environmentId);
});

async function list(query = "", environment = environmentId): Promise<VideoPageView> {
  const response = await sendAsCommandLine(subtext, `/environments/${environment}/videos${query}`);
  expect(response.statusCode).toBe(200);
  return response.json<VideoPageView>();
}

const names = ({ data }: VideoPageView) => data.map(({ filename }) => filename);

test("videos are listed newest first with everything about their state", async () => {
  const { data, nextCursor } = await list();
  expect(nextCursor).toBeNull();
  expect(data).toHaveLength(9);
  expect(data.map(({ id }) => id)).toEqual(
    data
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  );
  const named = (start: string) => data.find(({ filename }) => filename?.startsWith(start));
  expect(named("phone")).toMatchObject({ state: "uploading", uploadedBytes: 0, transcription: null });
  expect(named("weekly")).toMatchObject({ state: "pending", queuePosition: 1 });
  expect(named("keynote")).toMatchObject({ state: "pending", queuePosition: 2 });
  expect(named("customer")).toMatchObject({
    state: "processing",
    queuePosition: null,
    transcription: { progress: 0.42, remainingSeconds: 38 },
  });
  expect(named("notes")).toMatchObject({
    state: "failed",
    transcription: { failure: { code: "unreadable_media" } },
  });
  expect(named("b-roll")).toMatchObject({
    state: "skipped",
    transcription: { skipReason: "silent_audio_track" },
  });
  expect(named("before")).toMatchObject({ state: "untranscribed", transcription: null });
});

test("queue positions match the order in which workers claim: environments take turns", async () => {
  const { environmentId: one } = await createTenant(subtext);
  const { environmentId: other } = await createTenant(subtext);
  await seedEveryState(subtext.service, one);
  await seedEveryState(subtext.service, other);

  const waiting = async (environment: string) => {
    const { data } = await list("?state=pending", environment);
    return data.map(({ filename, queuePosition }) => [filename, queuePosition]);
  };
  expect(await waiting(environmentId)).toEqual([
    ["keynote.mkv", 4],
    ["weekly.mp4", 1],
  ]);
  expect(await waiting(one)).toEqual([
    ["keynote.mkv", 5],
    ["weekly.mp4", 2],
  ]);
  expect(await waiting(other)).toEqual([
    ["keynote.mkv", 6],
    ["weekly.mp4", 3],
  ]);
});

test("each state lists exactly its own videos, across pages", async () => {
  const seen: string[] = [];
  for (const state of VIDEO_STATES) {
    const { data } = await list(`?state=${state}`);
    expect(data.length).toBeGreaterThan(0);
    expect(new Set(data.map((video) => video.state))).toEqual(new Set([state]));
    seen.push(...data.map(({ id }) => id));
    const paged: VideoView[] = [];
    let cursor: string | null = null;
    do {
      const page: VideoPageView = await list(`?state=${state}&limit=1${cursor ? `&cursor=${cursor}` : ""}`);
      paged.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(paged).toEqual(data);
  }
  expect(seen.sort()).toEqual((await list()).data.map(({ id }) => id).sort());
  const wrong = await sendAsCommandLine(subtext, `/environments/${environmentId}/videos?state=lost`);
  expect(codeOf(wrong)).toEqual([400, "invalid_request"]);
});

test("an operator's upload needs no key: the session creates the video, its upload URL takes the bytes", async () => {
  const tenant = await createTenant(subtext);
  const path = `/environments/${tenant.environmentId}/videos`;
  const bytes = Buffer.from("These are the bytes.");
  const body = { filename: "a.mp4", sizeBytes: bytes.length };
  await changeEnvironment(subtext.service.parts.database.kysely, tenant.environmentId, {
    allowedOrigins: [],
  });
  const offer = await sendAsCommandLine(subtext, path, { method: "POST", body });
  expect(offer.statusCode).toBe(201);
  const { video, upload } = offer.json<UploadOfferView>();
  expect(video).toMatchObject({ state: "uploading", filename: "a.mp4", uploadedBytes: 0 });
  await new Promise<void>((resolve, reject) => {
    const headers = { origin: subtext.url };
    const { url: uploadUrl } = upload;
    new tus.Upload(bytes, { uploadUrl, headers, onSuccess: () => resolve(), onError: reject }).start();
  });
  expect((await list("", tenant.environmentId)).data).toMatchObject([{ id: video.id, state: "pending" }]);

  const large = await sendAsCommandLine(subtext, path, { method: "POST", body: { ...body, sizeBytes: 2e6 } });
  expect(codeOf(large)).toEqual([413, "payload_too_large"]);
});

test("the stream reports changes of its own environment only, and ends with the service", async () => {
  const { environmentId: watched } = await createTenant(subtext);
  const { database, clock, commandLineToken, app } = subtext.service.parts;
  const response = await fetch(`${subtext.url}/internal/environments/${watched}/videos/changes`, {
    headers: { authorization: `Bearer ${commandLineToken}` },
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("x-request-id")).not.toBeNull();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let received = "";
  const readUntil = async (what: string) => {
    while (!received.includes(what)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream ended; received: ${received}`);
      received += value;
    }
  };
  const add = (environment: string, filename: string) =>
    insertVideo(database.kysely, {
      id: newId("video"),
      environmentId: environment,
      metadata: { filename },
      sizeBytes: 1,
      now: clock.now(),
    });
  await readUntil("retry:");
  await add(environmentId, "elsewhere.mp4");
  const { id } = await add(watched, "here.mp4");
  await readUntil("here.mp4");
  await database.kysely.deleteFrom("video").where("id", "=", id).execute();
  await readUntil(`"deleted":["${id}"]`);
  await seedEveryState(subtext.service, watched);
  await readUntil("customer call");
  await readUntil("keynote.mkv");
  expect(received).not.toContain("elsewhere.mp4");
  expect(names(await list("", watched))).toHaveLength(9);

  const closed = app.close();
  for (;;) if ((await reader.read()).done) break;
  await closed;
});
