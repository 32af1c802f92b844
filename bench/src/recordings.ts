import { spawnSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";

export const SAMPLE = join(import.meta.dirname, "../../demo/sample/sample.mp4");

export const MACHINE = `${availableParallelism()} cores, ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}`;

export function requireFfmpeg(): void {
  if (spawnSync("ffmpeg", ["-version"]).status === 0) return;
  console.error(
    "The benchmark creates its recordings with ffmpeg, which is not installed: apt install ffmpeg",
  );
  process.exit(1);
}

/** Creates a recording of continuous speech by repeating the sample's audio. */
export function makeRecording(path: string, seconds: number, sample = SAMPLE): void {
  ffmpeg(
    ...["-stream_loop", "-1", "-i", sample, "-t", String(seconds)],
    ...["-vn", "-c:a", "aac", "-b:a", "48k", path],
  );
}

export function ffmpeg(...args: string[]): void {
  run("ffmpeg", ["-nostdin", "-v", "error", "-y", ...args]);
}

export function run(program: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} failed: ${error ?? stderr}`);
}
