import { parseArgs } from "node:util";
import { printTable } from "./table.ts";

/** Computes the resources for a number of videos per day from measured costs: the arithmetic of docs/scaling.md. */
const { values } = parseArgs({
  options: {
    videos: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "4" },
    /** Size of a recording. */
    mebibytes: { type: "string", default: "75" },
    /** The busiest hour relative to the mean. */
    peak: { type: "string", default: "3" },
    /** Target utilization of a worker's CPU time. */
    busy: { type: "string", default: "0.7" },
  },
});

/** `npm run bench:speech`: the bundled engine, decoding and all else, an hour of speech. */
const CPU_SECONDS_AN_AUDIO_HOUR = 52.6;
/** Stated by others (SYSTRAN/faster-whisper, issue 1030): large-v3-turbo, fp16, an RTX 2080 Ti, 13 minutes of audio. */
const GPU_SECONDS_AN_AUDIO_HOUR = (19.155 / 13) * 60;
/** `npm run bench:queue -- --only cost`. */
const STATEMENTS = 64;
const TRANSACTIONS = 26;
const ROW_WRITES = 26;
const LOG_KIB = 10;
const ROWS_KIB = 13.1;
const IDLE_STATEMENTS_A_WORKER_SECOND = 29.5;
/** Words, captions, text, confidence and waveform of a minute of speech. */
const FILES_KIB_A_MINUTE = 10;
const PART_MIB = 5;
const CORES_A_WORKER = 4;
const CONNECTIONS_A_PROCESS = 16;

const videos = Number(values.videos);
const audioHours = (videos * Number(values.minutes)) / 60;
const perSecond = videos / 86_400;
const cores = (audioHours * CPU_SECONDS_AN_AUDIO_HOUR) / 86_400 / Number(values.busy);
const gpus = (audioHours * GPU_SECONDS_AN_AUDIO_HOUR) / 86_400 / Number(values.busy);
const workers = Math.ceil(cores / CORES_A_WORKER);
const recordingsTib = (videos * Number(values.mebibytes)) / 1024 ** 2;
const gigabits = (tib: number) => ((tib * 1024 ** 4 * 8) / 86_400 / 1e9).toFixed(1);
const round = (number: number) => Math.round(number).toLocaleString("en");

printTable(
  `${round(videos)} videos of ${values.minutes} minutes a day`,
  ["what", "needed"],
  [
    [
      "videos a second, mean and in the busiest hour",
      `${perSecond.toFixed(1)}, ${(perSecond * Number(values.peak)).toFixed(1)}`,
    ],
    ["audio", `${round(audioHours)} hours a day`],
    ["cores, bundled engine", round(cores)],
    [`worker processes of ${CORES_A_WORKER} cores`, round(workers)],
    ["or GPUs, as stated by others", round(gpus)],
    [
      "PostgreSQL: statements a second, work and idle looks",
      `${round(perSecond * STATEMENTS)} + ${round(workers * IDLE_STATEMENTS_A_WORKER_SECOND)}`,
    ],
    ["PostgreSQL: transactions a second", round(perSecond * TRANSACTIONS)],
    ["PostgreSQL: rows written a second", round(perSecond * ROW_WRITES)],
    ["PostgreSQL: write-ahead log", `${((videos * LOG_KIB) / 1024 ** 2).toFixed(0)} GiB a day`],
    ["PostgreSQL: rows that stay", `${((videos * ROWS_KIB) / 1024 ** 2).toFixed(0)} GiB a day`],
    ["PostgreSQL: connections, without a pooler", round((workers + 4) * CONNECTIONS_A_PROCESS)],
    ["recordings in", `${recordingsTib.toFixed(0)} TiB a day, ${gigabits(recordingsTib)} Gbit/s`],
    ["recordings from the bucket to workers", `${gigabits(recordingsTib)} Gbit/s`],
    [
      "transcripts' files",
      `${((videos * Number(values.minutes) * FILES_KIB_A_MINUTE) / 1024 ** 2).toFixed(0)} GiB a day`,
    ],
    [
      "bucket: requests that write, a second",
      round(perSecond * (Number(values.mebibytes) / PART_MIB + 2 + 5)),
    ],
    ["webhooks a second, one endpoint an environment", perSecond.toFixed(1)],
  ],
);
