import type { KeptStretch } from "@subtext/speech/checkpoints/checkpoint";
import type { Speech } from "@subtext/speech/processes/process-pool";
import type { TranscribeResult } from "@subtext/speech/transcript";
import type { Waveform } from "@subtext/speech/waveform";
import type { Logger } from "pino";
import { othersWait } from "../db/fair-choice.ts";
import type { Db, TranscriptionRow } from "../db/schema.ts";
import { noteDecoded } from "../db/transcription-attempts.ts";
import { keepStretch, readKeptStretches } from "../db/transcription-stretches.ts";
import { type Hold, reportProgress } from "../db/transcriptions.ts";
import type { Clock } from "../lib/clock.ts";
import { isOutage, logLevelOf } from "../lib/outages.ts";
import type { Sources } from "../storage/recording-store.ts";
import { WorkProgress } from "./work-progress.ts";

export interface HearDeps {
  db: Db;
  speech: Speech;
  sources: Sources;
  clock: Clock;
  maxDurationSeconds: number;
  /** Whether others would go on if this transcription made way; asks the database unless told otherwise. */
  shouldYield?: (transcriptionId: string) => Promise<boolean>;
}

/** An attempt as far as hearing goes. */
export interface HearingAttempt {
  row: TranscriptionRow;
  hold: Hold;
  log: Logger;
  /** Aborted when this attempt must end. */
  signal: AbortSignal;
  /** Aborted here where another attempt has taken over. */
  replaced: AbortController;
  /** Aborted here where others are to go first. */
  yields: AbortController;
  /** Set here where the database was away for a while: another may have taken over though this worker lives. */
  metOutage: boolean;
  /** How many count so far. */
  faults: number;
  /** Known once the recording is decoded. */
  waveform: Waveform | null;
  /** When the recording lay on this machine, and when it was decoded. */
  fetchedAt: Date | null;
  decodedAt: Date | null;
}

/**
 * Going on costs a fetch and a decoding of the whole recording, a minute or two of the longest: an attempt works
 * for so long, counted from the first that it hears anew, before it makes way.
 */
const YIELD_AFTER_MS = 10 * 60_000;

/** Speech to text, from what earlier attempts have kept of it. */
export async function hear(deps: HearDeps, attempt: HearingAttempt): Promise<TranscribeResult> {
  const { row, hold, log, signal, replaced } = attempt;
  const kept = await readKeptStretches(deps.db, row.id);
  if (kept.length > 0) log.info({ stretches: kept.length }, "what was heard before is gone on from");
  const source = await deps.sources.open(row.video_id, signal);
  attempt.fetchedAt = deps.clock.now();
  const work = new WorkProgress();
  try {
    return await deps.speech.transcribe(source.path, {
      maxDurationSeconds: deps.maxDurationSeconds,
      signal,
      kept,
      onStretch: keeper(deps, attempt),
      onProgress: (report) => {
        const { duration, remainingSeconds } = report;
        const progress = work.after(report, performance.now());
        reportProgress(deps.db, hold, { progress, remainingSeconds, duration })
          .then((stillHeld) => stillHeld || replaced.abort())
          .catch((error) => {
            attempt.metOutage ||= isOutage(error);
            log[logLevelOf(error, "warn")]({ err: error }, "progress could not be written");
          });
      },
      onWaveform: (waveform) => {
        attempt.waveform = waveform;
        if (!waveform.whole) return;
        attempt.decodedAt = deps.clock.now();
        noteDecoded(deps.db, hold, attempt.decodedAt).catch((error) =>
          log[logLevelOf(error, "warn")]({ err: error }, "the end of decoding could not be written"),
        );
      },
    });
  } finally {
    await source.release();
  }
}

function keeper(
  { db, clock, shouldYield = (id) => othersWait(db, id) }: HearDeps,
  attempt: HearingAttempt,
): (stretch: KeptStretch) => void {
  const { hold, log, replaced, yields } = attempt;
  let number = 0;
  let firstAt: Date | null = null;
  const keep = async (stretch: KeptStretch) => {
    firstAt ??= clock.now();
    number += 1;
    const faults = await keepStretch(db, hold, number, stretch);
    if (faults === null) return replaced.abort();
    attempt.faults = faults;
    if (clock.now().getTime() - firstAt.getTime() < YIELD_AFTER_MS) return;
    if (await shouldYield(hold.transcriptionId)) yields.abort(new Error("others wait"));
  };
  // What can not be kept is heard again where this attempt is lost; that is no reason to end it.
  return (stretch) =>
    void keep(stretch).catch((error) =>
      log[logLevelOf(error, "warn")]({ err: error }, "a stretch could not be kept"),
    );
}
