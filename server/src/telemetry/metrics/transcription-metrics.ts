import { Counter, Histogram, type Registry } from "prom-client";
import type { AttemptReport } from "../../transcription/attempt-report.ts";

/** From short clips to twelve hours on a slow machine. */
const STAGE_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400];
const REALTIME_FACTOR_BUCKETS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The process that runs an attempt counts it when it ends. */
export function createTranscriptionMetrics(registry: Registry): (attempt: AttemptReport) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: "subtext_transcription_attempts_total",
    help: "Attempts that ended. `outcome`: `completed`, `skipped`, `failed`, `returned` (will be retried), `handed_back` (the process stopped, or the attempt yielded to other recordings), `lost` (its worker crashed; counted by the worker that took over), `dropped` (the transcription was canceled or taken over, or its video was deleted). `reason`: an error code, or why there was nothing to transcribe.",
    labelNames: ["outcome", "reason"],
    registers,
  });
  const stages = new Histogram({
    name: "subtext_transcription_stage_seconds",
    help: "Duration of each stage. `queue`: the wait before each attempt. For completed attempts only: `probe`, `decode`, `voice_activity` and `engine`, which overlap; `speech_to_text`, all of these together; `store`; `attempt`, the whole attempt.",
    labelNames: ["stage"],
    buckets: STAGE_BUCKETS,
    registers,
  });
  const realtimeFactor = new Histogram({
    name: "subtext_transcription_realtime_factor",
    help: "Seconds of media per second of speech-to-text for each completed recording.",
    labelNames: ["engine"],
    buckets: REALTIME_FACTOR_BUCKETS,
    registers,
  });
  const mediaSeconds = new Counter({
    name: "subtext_transcribed_media_seconds_total",
    help: "Seconds of media of completed transcriptions.",
    labelNames: ["engine"],
    registers,
  });
  const workSeconds = new Counter({
    name: "subtext_transcribing_seconds_total",
    help: "Seconds of speech-to-text of completed transcriptions. The seconds of media divided by this value are the mean speed in multiples of real time.",
    labelNames: ["engine"],
    registers,
  });
  const words = new Counter({
    name: "subtext_transcribed_words_total",
    help: "Words of completed transcriptions.",
    labelNames: ["engine"],
    registers,
  });

  return (attempt) => {
    const { outcome, reason, transcript, queuedAt, startedAt, transcribedAt, endedAt } = attempt;
    attempts.inc({ outcome, reason: reason ?? "" });
    if (queuedAt) stages.observe({ stage: "queue" }, secondsBetween(queuedAt, startedAt));
    if (transcript === null) return;
    const { engine, stages: spent, duration, wordCount } = transcript;
    stages.observe({ stage: "probe" }, spent.probe);
    stages.observe({ stage: "decode" }, spent.decode);
    stages.observe({ stage: "voice_activity" }, spent.voiceActivity);
    stages.observe({ stage: "engine" }, spent.engine);
    stages.observe({ stage: "speech_to_text" }, spent.total);
    if (transcribedAt) stages.observe({ stage: "store" }, secondsBetween(transcribedAt, endedAt));
    stages.observe({ stage: "attempt" }, secondsBetween(startedAt, endedAt));
    if (spent.total > 0) realtimeFactor.observe({ engine }, duration / spent.total);
    mediaSeconds.inc({ engine }, duration);
    workSeconds.inc({ engine }, spent.total);
    words.inc({ engine }, wordCount);
  };
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / 1000;
}
