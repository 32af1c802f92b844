import { randomBytes } from "node:crypto";
import { get } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { renderJson } from "@subtext/captions/json";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SERVICE } from "../../src/audit/audit-events.ts";
import { streamArchive } from "../../src/bulk-operations/archive.ts";
import { ArchiveNames } from "../../src/bulk-operations/archive-names.ts";
import { requestOperation } from "../../src/bulk-operations/operations.ts";
import { findOperation } from "../../src/bulk-operations/queries.ts";
import { fileKey } from "../../src/storage/transcript-files.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { readZip } from "../support/read-zip.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, shareService, until } from "../support/service.ts";
import { seedFailed, seedTranscriptFiles } from "./seed-videos.ts";

const subtext = shareService({ start: false });

const seedFiles = (environmentId: string, filename: string, text?: string) =>
  seedTranscriptFiles(subtext.service, { environmentId, filename, text });

async function prepare(environmentId: string, videos: object): Promise<string> {
  const path = `/environments/${environmentId}/downloads`;
  const response = await sendAsCommandLine(subtext, path, { method: "POST", body: { videos } });
  expect(response.statusCode).toBe(201);
  return `${path}/${response.json().id}`;
}

async function download(path: string): Promise<Map<string, string>> {
  const response = await sendAsCommandLine(subtext, path);
  expect(response.statusCode).toBe(200);
  expect(response.headers["content-type"]).toBe("application/zip");
  return readZip(response.rawPayload);
}

test("a download has the three files of each video, and says which videos have none and why", async () => {
  const { environmentId } = await createTenant(subtext);
  const { environmentId: other } = await createTenant(subtext);
  const first = await seedFiles(environmentId, "../../etc/All hands.mp4", "Good morning.");
  await seedFiles(environmentId, "all HANDS.mov");
  const foreign = await seedFiles(other, "secret.mp4");
  const [failed] = await seedFailed(subtext.service, environmentId, 1);
  const vanished = await seedFiles(environmentId, "vanished.mp4");
  const { database, transcripts } = subtext.service.parts;
  const { file_prefix } = await database.kysely
    .selectFrom("transcription")
    .select("file_prefix")
    .where("video_id", "=", vanished)
    .executeTakeFirstOrThrow();
  await transcripts.remove(fileKey(file_prefix!, "vtt"));
  const deleted = await seedFiles(environmentId, "deleted.mp4");

  const path = await prepare(environmentId, { matching: {} });
  await database.kysely.deleteFrom("video").where("id", "=", deleted).execute();
  const files = await download(path);
  const stems = ["All hands", "all HANDS (2)"];
  const expected = stems.flatMap((stem) => ["vtt", "json", "txt"].map((format) => `${stem}.en.${format}`));
  expect([...files.keys()]).toEqual([...expected, "not-included.txt"]);
  expect(files.get("All hands.en.txt")).toBe("Good morning.\n");
  expect(files.get("All hands.en.json")).toBe(
    renderJson([
      { word: "Good", start: 0, end: 0.5 },
      { word: "morning.", start: 0.5, end: 1 },
    ] as never),
  );
  const missing = files.get("not-included.txt")!.trimEnd().split("\r\n");
  expect(new Set(missing)).toEqual(
    new Set([
      `${failed}\tbroken 0.mp4\tThe transcription failed.`,
      `${vanished}\tvanished.mp4\tA transcript file is missing.`,
      `${deleted}\t\tThe video was deleted.`,
    ]),
  );
  // Only once.
  expect((await sendAsCommandLine(subtext, path)).statusCode).toBe(404);
  const id = path.split("/").at(-1)!;
  expect(
    await until(async () => {
      const row = await findOperation(database.kysely, environmentId, id);
      return row?.state === "completed" && row;
    }),
  ).toMatchObject({ matched: 5, done: 2, skipped: 3 });

  const chosen = await download(await prepare(environmentId, { ids: [first, foreign] }));
  expect([...chosen.keys()]).toEqual(["All hands.en.vtt", "All hands.en.json", "All hands.en.txt"]);
});

test("a download of nothing is an empty archive, and another environment's download is unknown", async () => {
  const { environmentId } = await createTenant(subtext);
  const { environmentId: other } = await createTenant(subtext);
  const path = await prepare(environmentId, { matching: {} });
  const elsewhere = await sendAsCommandLine(subtext, path.replace(environmentId, other));
  expect(elsewhere.json()).toMatchObject({ status: 404, code: "bulk_operation_not_found" });
  expect([...(await download(path)).keys()]).toEqual([]);
});

test("a download keeps no file in memory that the client has received", async () => {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  const { environmentId } = await createTenant(subtext);
  const videos = 40;
  for (let n = 0; n < videos; n++)
    await seedTranscript(subtext.service, { environmentId, language: "en", text: "a", filename: `${n}.mp4` });
  const { database, clock, transcripts, log, queue } = subtext.service.parts;
  const db = database.kysely;
  const wanted = { environmentId, kind: "download", selection: { matching: {} } } as const;
  const operation = await requestOperation({ db, queue, clock }, wanted, SERVICE);
  let reads = 0;
  const held: number[] = [];
  const read = async () => {
    reads += 1;
    if (reads === 6 || reads === 3 * videos) {
      gc();
      await nextTurn();
      gc();
      held.push(process.memoryUsage().arrayBuffers);
    }
    // Smaller than half of Node's buffer pool.
    return Readable.from([randomBytes(30_000)]);
  };
  const reading: typeof transcripts = Object.assign(Object.create(transcripts), { read });
  const archive = streamArchive({ db, clock, transcripts: reading, log }, operation);
  for await (const _chunk of archive);
  expect(held[1]! - held[0]!).toBeLessThan(1_500_000);
});

test("a download whose videos were deleted from it breaks off, so that no client takes a part for all of it", async () => {
  const { environmentId } = await createTenant(subtext);
  await seedFiles(environmentId, "first.mp4");
  const path = await prepare(environmentId, { matching: {} });
  const { database, clock, transcripts, log } = subtext.service.parts;
  const db = database.kysely;
  const operation = (await findOperation(db, environmentId, path.split("/").at(-1)!))!;
  await db.deleteFrom("bulk_operation_item").where("operation_id", "=", operation.id).execute();
  const archive = streamArchive({ db, clock, transcripts, log }, operation);
  await expect(archive.toArray()).rejects.toThrow("the download ended before all its videos");
});

test("a download that cannot be recorded after the client has received it is logged, not canceled", async () => {
  const { environmentId } = await createTenant(subtext);
  await seedFiles(environmentId, "first.mp4");
  const path = await prepare(environmentId, { matching: {} });
  const { database, clock, transcripts } = subtext.service.parts;
  const operation = (await findOperation(database.kysely, environmentId, path.split("/").at(-1)!))!;
  const received = Promise.withResolvers<void>();
  const execute = async () => {
    await received.promise;
    throw new Error("the connection was lost");
  };
  const db = new Proxy(database.kysely, {
    get(target, property) {
      if (property === "updateTable") return () => ({ set: () => ({ where: () => ({ execute }) }) });
      const value = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const logged: string[] = [];
  const log = { info() {}, error: (_context: object, message: string) => void logged.push(message) };
  const archive = streamArchive({ db, clock, transcripts, log }, operation);
  archive.once("close", () => received.resolve());
  expect(readZip(Buffer.concat(await archive.toArray())).size).toBe(3);
  const ended = await until(async () => {
    const row = await findOperation(database.kysely, environmentId, operation.id);
    return row?.state !== "queued" && row;
  });
  expect(ended.state).toBe("failed");
  expect(logged).toEqual(["a download failed"]);
});

test("a client that disconnects cancels the download", async () => {
  const { environmentId } = await createTenant(subtext);
  const letters = Array.from({ length: 400_000 }, () => Math.random().toString(36).slice(2)).join(" ");
  await seedFiles(environmentId, "long.mp4");
  const videoId = await seedFiles(environmentId, "longer.mp4");
  const { database, transcripts, commandLineToken } = subtext.service.parts;
  const { file_prefix } = await database.kysely
    .selectFrom("transcription")
    .select("file_prefix")
    .where("video_id", "=", videoId)
    .executeTakeFirstOrThrow();
  await transcripts.remove(fileKey(file_prefix!, "txt"));
  await transcripts.put(fileKey(file_prefix!, "txt"), new TextEncoder().encode(letters));
  const path = await prepare(environmentId, { matching: {} });
  await new Promise<void>((resolve, reject) => {
    const headers = { authorization: `Bearer ${commandLineToken}` };
    const request = get(`${subtext.url}/internal${path}`, { headers }, (response) => {
      response.once("data", () => {
        request.destroy();
        resolve();
      });
    });
    request.on("error", reject);
  });
  await until(async () => {
    const row = await findOperation(database.kysely, environmentId, path.split("/").at(-1)!);
    return row?.state === "canceled" && row;
  });
});

describe("names in an archive", () => {
  test("are safe on every file system, and no two are equal on one that ignores case", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string({ unit: "binary", maxLength: 300 }),
            fc.constantFrom("a", "A", "a (2)", "../a", "CON", "nul.txt", "not-included", "", "."),
          ),
        ),
        (wanted) => {
          const names = new ArchiveNames();
          const assigned = wanted.map((each) => names.assign(each));
          expect(new Set(assigned.map((name) => name.toLowerCase())).size).toBe(wanted.length);
          for (const name of assigned) {
            // biome-ignore lint/suspicious/noControlCharactersInRegex: checks that there are none
            expect(name).not.toMatch(/[/\\:*?"<>|\u0000-\u001f\u007f]|^\.|^(con|nul)(\.|$)/i);
            expect(Buffer.byteLength(`${name}.en.json`)).toBeLessThanOrEqual(255);
          }
        },
      ),
    );
  });

  test("that repeat are numbered", () => {
    const names = new ArchiveNames();
    const wanted = ["talk", "Talk", "talk (2)", "talk", "🎬".repeat(100), "aux"];
    expect(wanted.map((each) => names.assign(each))).toEqual([
      "talk",
      "Talk (2)",
      "talk (2) (2)",
      "talk (3)",
      "🎬".repeat(50),
      "_aux",
    ]);
  });
});
