import { modelFileBytes } from "../engines/model-file-bytes.ts";
import type { Decoder } from "../media/media.ts";
import { openDecoder } from "../media/open-decoder.ts";
import type { Engines } from "../recognition/recognizer.ts";
import { transcribe } from "../transcribe.ts";
import type { TranscribeProgress } from "../transcript.ts";
import type { VoiceActivity } from "../vad/voice-activity.ts";
import { openVoiceActivityLane } from "./model-worker.ts";
import { openEngines } from "./open-engines.ts";
import {
  type FromSpeechProcess,
  parseToSpeechProcess,
  type SpeechParts,
  type ToSpeechProcess,
  toErrorMessage,
} from "./process-messages.ts";

/**
 * The speech process: loads a decoder, voice activity and its engines once, then transcribes one recording
 * at a time. It sees files and samples, never the database or the storage.
 */

const HEARTBEAT_INTERVAL_MS = 1_000;
const PROGRESS_INTERVAL_MS = 1_000;

interface LoadedParts {
  decoder: Decoder;
  engines: Engines;
  voiceActivity: VoiceActivity;
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
          ({ engines, decoder }) =>
            send({ type: "ready", description: { engines: describe(engines), decoder: decoder.name } }),
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

  async #transcribe({ job, path, maxDurationSeconds, keeping }: TranscribeJob): Promise<void> {
    const { kept, everySeconds } = keeping;
    const abort = new AbortController();
    try {
      if (this.#parts === null || this.#running !== null) throw new Error("One job at a time, once opened.");
      this.#running = { job, abort };
      const result = await transcribe(path, {
        ...(await this.#parts),
        maxDurationSeconds,
        signal: abort.signal,
        onProgress: atMostEverySecond((progress) => send({ type: "progress", job, progress })),
        onWaveform: (waveform) => send({ type: "waveform", job, waveform }),
        kept,
        ...(everySeconds !== null && {
          keepEverySeconds: everySeconds,
          onStretch: (stretch) => send({ type: "stretch", job, stretch }),
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

async function load({ engines, threads, batchShare, ffmpegPath }: SpeechParts): Promise<LoadedParts> {
  send({ type: "loading", modelBytes: await modelFileBytes(engines) });
  const decoder = await openDecoder(ffmpegPath === null ? {} : { ffmpegPath });
  const voiceActivity = await openVoiceActivityLane();
  return { decoder, voiceActivity, engines: await openEngines(engines, { threads, batchShare }) };
}

function describe({ multilingual, bundled }: Engines) {
  return [multilingual, bundled]
    .filter((engine) => engine !== null)
    .map(({ name, languages, warnings = [] }) => ({ name, languages, warnings }));
}

/** The first at once, the latest of each second, and the end of the recording. */
function atMostEverySecond(onProgress: (progress: TranscribeProgress) => void) {
  let last = Number.NEGATIVE_INFINITY;
  return (progress: TranscribeProgress) => {
    const now = performance.now();
    if (now - last < PROGRESS_INTERVAL_MS && progress.done !== progress.duration) return;
    last = now;
    onProgress(progress);
  };
}

/** Where the service is gone, nobody reads; the end of the channel ends this process. */
function send(message: FromSpeechProcess): void {
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

/** Ends this process and the decoders that it started. */
function end(): never {
  try {
    // The service makes each speech process the leader of a process group of its own.
    process.kill(-process.pid, "SIGKILL");
  } catch {
    // It leads no group where it was started by hand.
  }
  process.exit(1);
}

const transcriber = new Transcriber();
process.on("message", (value) => transcriber.receive(parseToSpeechProcess(value)));
process.on("disconnect", end);
process.on("SIGTERM", end);
const heartbeat = () => send({ type: "alive", residentBytes: process.memoryUsage.rss() });
heartbeat();
setInterval(heartbeat, HEARTBEAT_INTERVAL_MS);
