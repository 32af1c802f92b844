import { flushCompileCache } from "node:module";
import { SAMPLE_RATE } from "../media/audio.ts";
import type { Decoder } from "../media/media.ts";
import { openDecoder } from "../media/open-decoder.ts";
import type { Engines } from "../recognition/recognizer.ts";
import { transcribe } from "../transcribe.ts";
import type { TranscribeProgress } from "../transcript.ts";
import type { VoiceActivityDetector } from "../vad/voice-activity.ts";
import { modelWeightBytes } from "./memory.ts";
import { openVoiceActivityWorker } from "./model-worker.ts";
import { openEngines } from "./open-engines.ts";
import {
  type FromSpeechProcess,
  parseToSpeechProcess,
  type SpeechProcessConfig,
  type ToSpeechProcess,
  toErrorMessage,
} from "./process-messages.ts";

const HEARTBEAT_INTERVAL_MS = 1_000;
const PROGRESS_INTERVAL_MS = 1_000;

interface LoadedParts {
  decoder: Decoder;
  engines: Engines;
  voiceActivity: VoiceActivityDetector;
}

type TranscribeJob = Extract<ToSpeechProcess, { type: "transcribe" }>;

class Transcriber {
  #parts: Promise<LoadedParts> | null = null;
  #running: { job: number; abort: AbortController } | null = null;

  receive(message: ToSpeechProcess): void {
    switch (message.type) {
      case "open":
        this.#parts = load(message.parts);
        this.#parts.then(
          ({ engines, decoder }) => {
            send({ type: "ready", description: { engines: describe(engines), decoder: decoder.name } });
            // By default, the cache is written only at exit, but this process is usually killed.
            flushCompileCache();
          },
          (error) => send({ type: "unusable", error: toErrorMessage(error) }),
        );
        break;
      case "transcribe":
        void this.#transcribe(message);
        break;
      case "abort":
        if (this.#running?.job === message.job) this.#running.abort.abort();
        break;
    }
  }

  async #transcribe({
    job,
    path,
    maxDurationSeconds,
    vocabulary,
    checkpointing,
  }: TranscribeJob): Promise<void> {
    const { checkpoints, intervalSeconds } = checkpointing;
    const abort = new AbortController();
    try {
      if (this.#parts === null || this.#running !== null)
        throw new Error("the process is not open or is busy");
      this.#running = { job, abort };
      const result = await transcribe(path, {
        ...(await this.#parts),
        maxDurationSeconds,
        vocabulary,
        signal: abort.signal,
        onProgress: atMostEverySecond((progress) => send({ type: "progress", job, progress })),
        onWaveform: (waveform) => send({ type: "waveform", job, waveform }),
        checkpoints,
        ...(intervalSeconds !== null && {
          checkpointIntervalSeconds: intervalSeconds,
          onCheckpoint: (checkpoint) => send({ type: "checkpoint", job, checkpoint }),
        }),
      });
      this.#running = null;
      send({ type: "transcribed", job, result });
    } catch (error) {
      this.#running = null;
      send({ type: "failed", job, error: toErrorMessage(error) });
    }
  }
}

async function load(config: SpeechProcessConfig): Promise<LoadedParts> {
  const { engines, threads, batchShare, ffmpegPath } = config;
  send({ type: "loading", modelBytes: await modelWeightBytes(engines) });
  const opening = openEngines(engines, { threads, batchShare });
  // First, so that a missing decoder does not hide that a model cannot be run.
  if (config.triesEngines) await tryEngines(await opening);
  const [decoder, voiceActivity, opened] = await Promise.all([
    openDecoder(ffmpegPath === null ? {} : { ffmpegPath }),
    openVoiceActivityWorker(),
    opening,
  ]);
  return { decoder, voiceActivity, engines: opened };
}

/** Runs each engine once, because some exported models load but cannot run. */
async function tryEngines({ multilingual, bundled }: Engines): Promise<void> {
  const { signal } = new AbortController();
  for (const engine of [multilingual, bundled]) {
    await engine?.recognize([{ samples: new Float32Array(SAMPLE_RATE), start: 0 }], { signal });
  }
}

function describe({ multilingual, bundled }: Engines) {
  return [multilingual, bundled]
    .filter((engine) => engine !== null)
    .map(({ name, languages, warnings = [] }) => ({ name, languages, warnings }));
}

/** Forwards at most one report per second, and the last. */
function atMostEverySecond(onProgress: (progress: TranscribeProgress) => void) {
  let last = Number.NEGATIVE_INFINITY;
  return (progress: TranscribeProgress) => {
    const now = performance.now();
    if (now - last < PROGRESS_INTERVAL_MS && progress.done !== progress.duration) return;
    last = now;
    onProgress(progress);
  };
}

/** If the service has exited, the message is dropped, because the closed channel ends this process. */
function send(message: FromSpeechProcess): void {
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

/** Kills this process and its decoders. */
function end(): never {
  try {
    // The service makes each speech process the leader of a process group.
    process.kill(-process.pid, "SIGKILL");
  } catch {
    // The process was started manually and does not lead a group.
  }
  process.exit(1);
}

/**
 * Loads a decoder, voice activity detection and engines once, then transcribes one recording at a time. Has no access to
 * the database or object storage.
 */
export function serveJobs(): void {
  const transcriber = new Transcriber();
  process.on("message", (value) => transcriber.receive(parseToSpeechProcess(value)));
  process.on("disconnect", end);
  process.on("SIGTERM", end);
  const heartbeat = () => send({ type: "alive", residentBytes: process.memoryUsage.rss() });
  heartbeat();
  setInterval(heartbeat, HEARTBEAT_INTERVAL_MS);
}
