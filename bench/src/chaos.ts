import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import type { Word } from "@subtext/captions/words";
import { FILE_FORMATS, type TranscriptionStatus } from "@subtext/client/contract/transcription";
import { confidenceKey, fileKey, waveformKey } from "@subtext/server/storage/transcript-files";
import { Webhook } from "standardwebhooks";
import { processTree } from "./process-tree.ts";
import { freePort, SpawnedService, sleep, type Tenant } from "./spawned-service.ts";
import { printTable } from "./table.ts";

/**
 * Ends the service, its engine process and its decoder by SIGKILL at random moments while a queue runs, and
 * then looks whether every video came to its right end: one transcription, one event, no stray file.
 */
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "30" },
    videos: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
  },
});
const random = seeded(Number(values.seed));

const ROOT = resolve(import.meta.dirname, "../..");
const SAMPLE = join(ROOT, "demo/sample/sample.mp4");
const MEDIA = join(ROOT, "speech/test/fixtures/media");
const TARGETS = ["service", "engine", "decoder"] as const;
type Target = (typeof TARGETS)[number];
const END_WITHIN_MS = 10 * 60_000;

interface Upload {
  videoId: string;
  expected: TranscriptionStatus;
}

const folder = await mkdtemp(join(tmpdir(), "subtext-chaos-"));
const events = new Map<string, Set<string>>();
const receiver = createServer();
const faults: string[] = [];
try {
  const service = new SpawnedService(join(folder, "data"), await freePort());
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const tenant = await service.createTenant(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  collectEvents(tenant);

  await service.start();
  const uploading = uploadAll(service, tenant);
  const killed = await killAtRandom(service, Number(values.kills));
  const uploads = await uploading;
  console.log(`\nAll killed and all uploaded; waiting for the queue to end.`);
  await untilAllEnded(service, tenant, uploads);
  const words = await readWords(service, tenant, uploads);
  await untilAllDelivered(uploads);

  // A start sweeps what the ended attempts left.
  await service.end("SIGTERM");
  await service.start();
  await sleep(3_000);
  await service.end("SIGTERM");
  await judge(service, uploads, words);

  printTable(
    `Killed at random moments, seed ${values.seed}`,
    ["what", "times"],
    [
      ...TARGETS.map((target) => [target, String(killed[target])]),
      ["videos", String(uploads.length)],
      ["events received", String([...events.values()].reduce((sum, ids) => sum + ids.size, 0))],
      ["faults found", String(faults.length)],
    ],
  );
} finally {
  receiver.close();
  receiver.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
}
for (const fault of faults) console.error(`FAULT: ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);

async function uploadAll(service: SpawnedService, tenant: Tenant): Promise<Upload[]> {
  const garbage = join(folder, "garbage.mp4");
  await writeFile(garbage, "this is no video");
  const kinds: { path: string; expected: TranscriptionStatus; share: number }[] = [
    { path: SAMPLE, expected: "COMPLETED", share: 0.7 },
    { path: join(MEDIA, "video-only.mp4"), expected: "SKIPPED", share: 0.1 },
    { path: join(MEDIA, "silence-aac.mp4"), expected: "SKIPPED", share: 0.1 },
    { path: garbage, expected: "FAILED", share: 0.1 },
  ];
  const uploads: Upload[] = [];
  for (let i = 0; i < Number(values.videos); i++) {
    const kind = pick(kinds, random());
    const videoId = await service.upload(tenant, kind.path);
    uploads.push({ videoId, expected: kind.expected });
    await sleep(random() * 500);
  }
  return uploads;
}

/** @param point 0 ≤ point < 1, along the shares laid end to end */
function pick<T extends { share: number }>(kinds: T[], point: number): T {
  let reached = 0;
  for (const kind of kinds) {
    reached += kind.share;
    if (point < reached) return kind;
  }
  return kinds.at(-1)!;
}

async function killAtRandom(service: SpawnedService, count: number): Promise<Record<Target, number>> {
  const killed = { service: 0, engine: 0, decoder: 0 };
  for (let i = 0; i < count; i++) {
    await sleep(200 + random() * 1_800);
    const target = TARGETS[i % TARGETS.length]!;
    if (!(await kill(service, target))) continue;
    killed[target] += 1;
    process.stdout.write(`${target} `);
    if (target === "service") await service.start();
  }
  return killed;
}

/** False where no such process showed up for a while: the queue was idle. */
async function kill(service: SpawnedService, target: Target): Promise<boolean> {
  if (target === "service") {
    await service.end("SIGKILL");
    return true;
  }
  const givesUpAt = Date.now() + 15_000;
  while (Date.now() < givesUpAt) {
    const tree = service.pid === undefined ? [] : processTree(service.pid);
    const isEngine = ({ command }: { command: string }) => command.includes("child/main.ts");
    const victim =
      target === "engine"
        ? tree.find(isEngine)
        : tree.find(
            ({ parent, command }) =>
              tree.some(({ pid }) => pid === parent && !isEngine({ command })) && isDecoder(command),
          );
    if (victim) {
      process.kill(victim.pid, "SIGKILL");
      return true;
    }
    await sleep(5);
  }
  return false;
}

function isDecoder(command: string): boolean {
  return /ffmpeg|node-av-child/.test(command);
}

function collectEvents({ webhookSecret }: Tenant): void {
  const verifier = new Webhook(webhookSecret ?? "");
  receiver.on("request", async (request, response) => {
    const header = (name: string) => String(request.headers[name] ?? "");
    const body = await text(request);
    try {
      const payload = verifier.verify(body, {
        "webhook-id": header("webhook-id"),
        "webhook-timestamp": header("webhook-timestamp"),
        "webhook-signature": header("webhook-signature"),
      }) as { data: { videoId: string } };
      const ids = events.get(payload.data.videoId) ?? new Set();
      events.set(payload.data.videoId, ids.add(header("webhook-id")));
      response.writeHead(204).end();
    } catch (error) {
      faults.push(`a webhook could not be verified: ${error}`);
      response.writeHead(400).end();
    }
  });
}

async function untilAllEnded(service: SpawnedService, tenant: Tenant, uploads: Upload[]): Promise<void> {
  const givesUpAt = Date.now() + END_WITHIN_MS;
  for (const { videoId, expected } of uploads) {
    for (;;) {
      const seen = await service.read(tenant, videoId);
      const ended = seen && seen.status !== "PENDING" && seen.status !== "PROCESSING";
      if (ended && seen.status !== expected)
        faults.push(`${videoId} ended ${seen.status} instead of ${expected}`);
      if (ended) break;
      if (Date.now() > givesUpAt) {
        faults.push(`${videoId} is still ${seen?.status}`);
        break;
      }
      await sleep(250);
    }
  }
}

async function readWords(
  service: SpawnedService,
  tenant: Tenant,
  uploads: Upload[],
): Promise<Map<string, string>> {
  const words = new Map<string, string>();
  for (const { videoId, expected } of uploads) {
    if (expected !== "COMPLETED") continue;
    const url = (await service.read(tenant, videoId))?.files?.json.url;
    const response = url === undefined ? null : await fetch(url);
    if (!response?.ok) {
      faults.push(`${videoId} has no words`);
      continue;
    }
    words.set(videoId, ((await response.json()) as Word[]).map(({ word }) => word).join(" "));
  }
  return words;
}

async function untilAllDelivered(uploads: Upload[]): Promise<void> {
  const wanted = uploads.filter(({ expected }) => expected === "COMPLETED");
  const givesUpAt = Date.now() + 60_000;
  while (Date.now() < givesUpAt && !wanted.every(({ videoId }) => events.has(videoId))) await sleep(250);
}

async function judge(service: SpawnedService, uploads: Upload[], words: Map<string, string>): Promise<void> {
  const [first] = words.values();
  for (const [videoId, heard] of words) {
    if (heard !== first) faults.push(`${videoId} has other words than the rest: ${heard}`);
  }
  for (const { videoId, expected } of uploads) {
    const ids = events.get(videoId)?.size ?? 0;
    const wanted = expected === "COMPLETED" ? 1 : 0;
    if (ids !== wanted) faults.push(`${videoId} has ${ids} event ids instead of ${wanted}`);
  }
  await service.inside(async ({ database }) => {
    const rows = await database.kysely.selectFrom("transcription").selectAll().execute();
    if (rows.length !== uploads.length) {
      faults.push(`${rows.length} transcriptions for ${uploads.length} videos`);
    }
    const owned = rows.flatMap(({ file_prefix: files, waveform_prefix: waveform }) => [
      ...(files === null
        ? []
        : [...FILE_FORMATS.map((format) => fileKey(files, format)), confidenceKey(files)]),
      ...(waveform === null ? [] : [waveformKey(waveform)]),
    ]);
    await compareFiles(join(service.dataFolder, "files"), owned);
    await compareFiles(
      join(service.dataFolder, "uploads"),
      uploads.map(({ videoId }) => videoId),
    );
  });
}

async function compareFiles(root: string, owned: string[]): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const found = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  for (const stray of found.filter((name) => !owned.includes(name))) faults.push(`stray file ${stray}`);
  for (const missing of owned.filter((name) => !found.includes(name))) faults.push(`missing file ${missing}`);
}

/** mulberry32: the same moments and videos for the same seed, as far as the machine's speed lets. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
