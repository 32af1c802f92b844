import { parseArgs } from "node:util";
import type { FigureTable } from "./figures.ts";
import { printTable } from "./table.ts";

/** Costs of one video, measured on 2 cores of an AMD EPYC: recognition on 21, the database on 25 November 2026. */
export const COSTS = {
  /** From `npm run bench:speech`, with the bundled engine; includes decoding. */
  cpuSecondsPerAudioHour: 52.6,
  /**
   * From SYSTRAN/faster-whisper issue 1030: large-v3-turbo, fp16, RTX 2080 Ti, 13 minutes of audio. Not measured here.
   */
  gpuSecondsPerAudioHour: (19.155 / 13) * 60,
  /** From `npm run bench:queue -- --only cost`. */
  statements: 75,
  transactions: 33,
  rowWrites: 32,
  logKib: 22,
  rowsKib: 13.5,
  searchIndexMbPerAudioHour: 0.3,
  idleStatementsPerWorkerMinute: 37,
  /** Includes words, captions, text, confidence and waveform. */
  filesKibPerMinute: 10,
};
const PART_MIB = 5;
const CORES_PER_WORKER = 4;
const CONNECTIONS_PER_PROCESS = 16;
/** Approximate upload throughput of one process; see `docs/scaling.md`. */
const GIGABITS_PER_API_PROCESS = 1;

export interface Load {
  videosPerDay: number;
  minutes: number;
  /** Size of a recording. */
  mebibytes: number;
  /** Load in the busiest hour relative to the mean. */
  peak: number;
  /** Target utilization of a worker's CPU time. */
  busy: number;
}

export const DEFAULT_LOAD: Load = { videosPerDay: 1_000_000, minutes: 4, mebibytes: 75, peak: 3, busy: 0.7 };

/** Estimates the required resources from the measured costs. */
export function computeCapacity({ videosPerDay, minutes, mebibytes, peak, busy }: Load): FigureTable {
  const audioHours = (videosPerDay * minutes) / 60;
  const perSecond = videosPerDay / 86_400;
  const cores = (audioHours * COSTS.cpuSecondsPerAudioHour) / 86_400 / busy;
  const gpus = (audioHours * COSTS.gpuSecondsPerAudioHour) / 86_400 / busy;
  const workers = Math.ceil(cores / CORES_PER_WORKER);
  const recordingsTib = (videosPerDay * mebibytes) / 1024 ** 2;
  const gigabits = (recordingsTib * 1024 ** 4 * 8) / 86_400 / 1e9;
  const apiProcesses = Math.ceil((gigabits * peak) / GIGABITS_PER_API_PROCESS);
  const round = (number: number) => Math.round(number).toLocaleString("en");
  const gib = (kib: number) => `${((videosPerDay * kib) / 1024 ** 2).toFixed(0)} GiB per day`;
  return {
    title: `${round(videosPerDay)} videos of ${minutes} minutes and ${mebibytes} MiB per day`,
    head: ["what", "needed"],
    rows: [
      [
        "videos per second, mean and in the busiest hour",
        `${perSecond.toFixed(1)}, ${(perSecond * peak).toFixed(1)}`,
      ],
      ["audio", `${round(audioHours)} hours per day`],
      ["cores for the bundled engine", `${round(cores)}, as ${workers} workers of ${CORES_PER_WORKER}`],
      ["or GPUs, as reported by others", round(gpus)],
      [
        "PostgreSQL: statements per second",
        `${round(perSecond * COSTS.statements)} for processing and ${round((workers * COSTS.idleStatementsPerWorkerMinute) / 60)} for idle polling`,
      ],
      ["PostgreSQL: transactions per second", round(perSecond * COSTS.transactions)],
      ["PostgreSQL: rows written per second", round(perSecond * COSTS.rowWrites)],
      ["PostgreSQL: write-ahead log", gib(COSTS.logKib)],
      ["PostgreSQL: stored rows", gib(COSTS.rowsKib)],
      [
        "PostgreSQL: search index",
        `${((audioHours * COSTS.searchIndexMbPerAudioHour * 1e6) / 1024 ** 3).toFixed(0)} GiB per day`,
      ],
      [
        "PostgreSQL: connections",
        `up to ${CONNECTIONS_PER_PROCESS} per process: ${round((workers + apiProcesses) * CONNECTIONS_PER_PROCESS)} for ${workers} workers and ${apiProcesses} api processes`,
      ],
      [
        "recordings in, and twice from the bucket to the workers, for transcriptions and posters",
        `${recordingsTib.toFixed(0)} TiB per day and ${gigabits.toFixed(1)} Gbit/s in, twice as much out`,
      ],
      ["transcripts", gib(minutes * COSTS.filesKibPerMinute)],
      ["bucket: write requests per second", round(perSecond * (mebibytes / PART_MIB + 2 + 5))],
      ["webhooks", `${perSecond.toFixed(1)} per second for each endpoint that subscribes to all`],
    ],
  };
}

if (import.meta.main) {
  const text = (value: number) => ({ type: "string", default: String(value) }) as const;
  const { values } = parseArgs({
    options: {
      videos: text(DEFAULT_LOAD.videosPerDay),
      minutes: text(DEFAULT_LOAD.minutes),
      mebibytes: text(DEFAULT_LOAD.mebibytes),
      peak: text(DEFAULT_LOAD.peak),
      busy: text(DEFAULT_LOAD.busy),
    },
  });
  const { title, head, rows } = computeCapacity({
    videosPerDay: Number(values.videos),
    minutes: Number(values.minutes),
    mebibytes: Number(values.mebibytes),
    peak: Number(values.peak),
    busy: Number(values.busy),
  });
  printTable(title, head, rows);
}
