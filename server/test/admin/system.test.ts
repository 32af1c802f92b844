import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { seedEveryState } from "../../../dashboard/test/seed-videos.ts";
import type { SystemView } from "../../src/admin/contract/system.ts";
import type { VideoCountsView } from "../../src/admin/contract/video.ts";
import { systemHandlers } from "../../src/admin/system.ts";
import { VIDEO_STATES } from "../../src/db/enums.ts";
import { describeProcesses, readStatus } from "../../src/lib/processes.ts";
import { countEndedInLastDay } from "../../src/queue/throughput.ts";
import { diskUsage } from "../../src/storage/disk/disk-usage.ts";
import { countVideosByState } from "../../src/videos/list-queries.ts";
import { createTenant, shareService } from "../support/service.ts";
import { testS3 } from "../support/test-bucket.ts";
import { addViewer, codeOf, cookieOf, send, sendAsCommandLine, setUp, signIn } from "./operator-requests.ts";

const subtext = shareService({ start: false });
let environmentId: string;
let other: string;
const HOUR_MS = 3_600_000;

beforeAll(async () => {
  ({ environmentId } = await createTenant(subtext));
  ({ environmentId: other } = await createTenant(subtext));
  await seedEveryState(subtext.service, environmentId);
  await seedEveryState(subtext.service, other);
});

async function finish(environment: string, language: string, fields: object): Promise<void> {
  await subtext.service.parts.database.kysely
    .updateTable("transcription")
    .set(fields)
    .where("environment_id", "=", environment)
    .where("language", "=", language)
    .execute();
}

test("the system page reports the queue, running transcriptions, results per hour and the speed of each engine", async () => {
  const now = subtext.service.parts.clock.now().getTime();
  const stages = (total: number) =>
    JSON.stringify({ probe: 0, decode: 1, voiceActivity: 1, engine: 1, total });
  const done = { engine: "moonshine-tiny", stages: stages(100) };
  await finish(environmentId, "en", { ...done, duration: 3000, finished_at: new Date(now - 60_000) });
  await finish(environmentId, "es", { ...done, duration: 1000, finished_at: new Date(now - 1.5 * HOUR_MS) });
  const whisper = { engine: "whisper-small", stages: stages(50), duration: 100 };
  await finish(other, "en", { ...whisper, finished_at: new Date(now - 23.5 * HOUR_MS) });
  await finish(other, "es", { ...whisper, finished_at: new Date(now - 24.5 * HOUR_MS) });

  const system = (await sendAsCommandLine(subtext, "/system")).json<SystemView>();
  expect(system.queue).toMatchObject({ pending: 4, processing: 2 });
  expect(Date.parse(system.queue.oldestPendingAt!)).toBeLessThanOrEqual(now);
  expect(system.running).toHaveLength(2);
  expect(system.running[0]).toMatchObject({ filename: "customer call, Tuesday.mp4", progress: 0.42 });
  expect(system.hours).toHaveLength(24);
  expect(system.hours.at(-1)).toEqual({ completed: 1, failed: 0, skipped: 0, mediaSeconds: 3000 });
  expect(system.hours.at(-2)).toMatchObject({ completed: 1, mediaSeconds: 1000 });
  expect(system.hours[0]).toMatchObject({ completed: 1, mediaSeconds: 100 });
  expect(system.engines).toEqual([
    { name: "moonshine-tiny", completed: 2, mediaSeconds: 4000, workSeconds: 200 },
    { name: "whisper-small", completed: 1, mediaSeconds: 100, workSeconds: 50 },
  ]);
  expect(system.disk.freeBytes).toBeGreaterThan(0);
  expect(system.disk.totalBytes).toBeGreaterThan(system.disk.freeBytes);
  expect(system.model.wanted).toBe("whisper-small");
});

test("results are counted in the hour in which they ended, by the service's clock", async () => {
  const db = subtext.service.parts.database.kysely;
  const later = new Date(subtext.service.parts.clock.now().getTime() + 2 * HOUR_MS);
  const hours = (await countEndedInLastDay(db, later)).map(({ hoursAgo }) => hoursAgo).sort();
  expect(hours).toEqual([2, 3]);
});

test("disk usage is measured in the background after the first request", async () => {
  const use = async () => (await sendAsCommandLine(subtext, "/system")).json<SystemView>().disk.use;
  // Two requests within a second share one measurement.
  await expect.poll(use, { interval: 500, timeout: 20_000 }).toMatchObject({ videos: 16 });
  const names = (await use())?.parts.map(({ name }) => name);
  // In a bucket, transcripts take no disk space.
  expect(names?.includes("files")).toBe(testS3() === null);
});

test("the use of each folder is reported, largest first, whatever its name", async () => {
  const folder = join(subtext.dataFolder, "measured");
  await mkdir(join(folder, "a\tb c", "deep"), { recursive: true });
  await mkdir(join(folder, "-s"));
  await writeFile(join(folder, "a\tb c", "deep", "file"), Buffer.alloc(300_000, 1));
  await writeFile(join(folder, "no folder"), "text");
  const [first, second, ...more] = await diskUsage(folder);
  expect(more).toEqual([]);
  expect(first?.name).toBe("a\tb c");
  expect(first?.bytes).toBeGreaterThanOrEqual(300_000);
  expect(second?.name).toBe("-s");
  await rm(folder, { recursive: true });
});

test("the processes include the service and its speech processes", async () => {
  const main = fileURLToPath(new URL("../../../speech/src/processes/process-main.ts", import.meta.url));
  const speech = spawn(process.execPath, [main], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  onTestFinished(() => void speech.kill("SIGKILL"));
  await once(speech, "spawn");
  const processes = await describeProcesses(process.pid);
  expect(processes[0]).toMatchObject({ pid: process.pid, role: "service" });
  expect(processes[0]!.residentBytes).toBeGreaterThan(10_000_000);
  expect(processes.find(({ pid }) => pid === speech.pid)).toMatchObject({ role: "speech" });
});

test("videos are counted by state, up to the limit", async () => {
  const counts = (
    await sendAsCommandLine(subtext, `/environments/${environmentId}/video-counts`)
  ).json<VideoCountsView>();
  expect(Object.keys(counts).sort()).toEqual([...VIDEO_STATES].sort());
  expect(counts).toMatchObject({ uploading: 1, pending: 2, completed: 2, untranscribed: 1 });
  const db = subtext.service.parts.database.kysely;
  expect(await countVideosByState(db, environmentId, 1)).toMatchObject({ pending: 1, completed: 1 });
});

test("a viewer sees the system, a stranger does not", async () => {
  expect(codeOf(await send(subtext, "/system"))).toEqual([401, "sign_in_required"]);
  await setUp(subtext);
  const cookie = cookieOf(await signIn(subtext, await addViewer(subtext)));
  expect((await send(subtext, "/system", { headers: { cookie } })).statusCode).toBe(200);
});

test("concurrent requests for a diagnosis share one, and a later request starts another", async () => {
  let looks = 0;
  const handlers = systemHandlers({
    system: { read: async () => Promise.reject(new Error("not asked for here")) },
    settings: [],
    diagnose: async () => {
      looks += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return [];
    },
    checkFiles: async () => 0,
    backups: {} as never,
  });
  const diagnose = () => handlers["GET /doctor"]({} as never);
  await Promise.all([diagnose(), diagnose(), diagnose()]);
  expect(looks).toBe(1);
  await diagnose();
  expect(looks).toBe(2);
});

test("the memory of a process does not depend on the size of the kernel's pages", () => {
  const status = "Name:\tnode\nPid:\t7\nPPid:\t3\nVmHWM:\t  4096 kB\nVmRSS:\t  2048 kB\nThreads:\t11\n";
  expect(readStatus(status)).toEqual({ pid: 7, parent: 3, residentBytes: 2 * 1024 ** 2 });
  expect(readStatus("Name:\tending\nPid:\t7\nPPid:\t3\n").residentBytes).toBe(0);
});
