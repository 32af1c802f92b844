import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findTranscriptionByVideo } from "@subtext/server/transcription/queries";
import { freePort } from "../../server/test/support/free-port.ts";
import { memoryOverTime } from "./process-tree.ts";
import { ffmpeg, MACHINE, makeRecording, requireFfmpeg } from "./recordings.ts";
import { SpawnedService } from "./spawned-service.ts";
import { printTable } from "./table.ts";

/**
 * Measures the time from the completed upload of a recording to COMPLETED, and the peak memory of the process tree. The
 * baseline is the time that ffmpeg takes to decode the same file in the same run.
 */
const { values } = parseArgs({
  options: { hours: { type: "string", default: "1,3" }, sample: { type: "string" } },
});
const hours = values.hours.split(",").map(Number);

requireFfmpeg();
console.log(MACHINE);
const folder = await mkdtemp(join(tmpdir(), "subtext-bench-"));
const rows: string[][] = [];
const shares: string[][] = [];
try {
  const service = new SpawnedService(join(folder, "data"), await freePort());
  const tenant = await service.createTenant(null);
  for (const length of hours) {
    const path = join(folder, `${length}h.mp4`);
    makeRecording(path, length * 3600, values.sample);
    const decodeSeconds = timeDecode(path);

    await service.start();
    const memory = memoryOverTime(() => service.pid);
    const videoId = await service.upload(tenant, path);
    const uploadedAt = performance.now();
    const ended = await service.untilEnded(tenant, videoId);
    const seconds = (performance.now() - uploadedAt) / 1000;
    const peakBytes = Math.max(...memory.stop());
    await service.end("SIGTERM");
    if (ended.status !== "COMPLETED")
      throw new Error(`the transcription of the ${length} h recording is ${ended.status}`);

    const duration = ended.duration ?? 0;
    rows.push([
      `${length} h`,
      `${seconds.toFixed(1)} s`,
      `${(duration / seconds).toFixed(0)} ×`,
      `${(seconds / decodeSeconds).toFixed(1)} ×`,
      `${(peakBytes / 1024 ** 2).toFixed(0)} MiB`,
      String(ended.wordCount),
    ]);
    const stages = await service.withParts(
      async ({ database }) => (await findTranscriptionByVideo(database.kysely, videoId))?.stages,
    );
    if (stages) {
      const share = (part: number) => `${((100 * part) / seconds).toFixed(0)}%`;
      shares.push([
        `${length} h`,
        share(stages.decode),
        share(stages.voiceActivity),
        share(stages.engine),
        share(Math.max(0, seconds - stages.total)),
      ]);
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
printTable(
  "From the completed upload to COMPLETED, with the bundled engine",
  [
    "recording",
    "elapsed time",
    "multiple of real time",
    "relative to decoding by ffmpeg",
    "peak memory of the process tree",
    "words",
  ],
  rows,
);
printTable(
  "Share of that time in which each stage was active (stages overlap)",
  ["recording", "decode", "voice activity", "engine", "outside speech"],
  shares,
);

function timeDecode(path: string): number {
  const startedAt = performance.now();
  ffmpeg("-i", path, "-ac", "1", "-ar", "16000", "-f", "null", "-");
  return (performance.now() - startedAt) / 1000;
}
