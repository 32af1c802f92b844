import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { SpeechProcess } from "@subtext/speech/processes/speech-process";
import { cpuSeconds, processTree } from "../process-tree.ts";

export interface Measurement {
  startSeconds: number;
  seconds: number;
  /** Includes all threads, without the start. */
  cpuSeconds: number;
  words: number;
  peakBytes: number;
}

/** Transcribes a recording in a new speech process, as the service does. */
export async function measureModel(
  folder: string,
  recording: string,
  { threads, batchShare }: { threads: number; batchShare: number },
): Promise<Measurement> {
  const startedAt = performance.now();
  const speech = new SpeechProcess({
    parts: {
      engines: {
        bundled: false,
        multilingual: { kind: "whisper", folder },
        bundledTakesEnglish: false,
        remedy: "",
      },
      threads,
      batchShare,
      ffmpegPath: null,
    },
    memoryLimitBytes: Number.POSITIVE_INFINITY,
    processBytes: Number.POSITIVE_INFINITY,
    heartbeatTimeoutMs: 600_000,
    loadTimeoutMs: 600_000,
    stallTimeoutMs: 3_600_000,
    checkpointIntervalSeconds: 30,
    log: (line) => console.error(line),
  });
  const pid = pidOfChild();
  try {
    restorePriority(pid);
    await speech.ready;
    const startSeconds = (performance.now() - startedAt) / 1000;
    const cpuBefore = cpuSeconds(pid).own;
    const result = await speech.transcribe(recording, {
      maxDurationSeconds: 3_600,
      signal: new AbortController().signal,
    });
    const seconds = (performance.now() - startedAt) / 1000 - startSeconds;
    const words = result.outcome === "transcribed" ? result.words.length : 0;
    const cpu = cpuSeconds(pid).own - cpuBefore;
    return { startSeconds, seconds, cpuSeconds: cpu, words, peakBytes: peakBytes(pid) };
  } finally {
    await speech.stop();
  }
}

/** Returns the process ID of the only child process. */
function pidOfChild(): number {
  const [found] = processTree(process.pid).filter(({ pid }) => pid !== process.pid);
  if (found === undefined) throw new Error("The speech process did not start.");
  return found.pid;
}

/** Speech processes have a low priority, so other load on the machine would change the measurement. */
function restorePriority(pid: number): void {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), 0);
    writeFileSync(`/proc/${pid}/autogroup`, "0");
  } catch {
    // Only the superuser may raise a priority.
  }
}

function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new Error("The system reports no peak memory.");
  return Number(kibibytes) * 1024;
}
