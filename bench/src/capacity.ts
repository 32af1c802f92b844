import { parseArgs } from "node:util";
import { printTable } from "./table.ts";

/** Computes the resources for a number of videos per day from measured costs: the arithmetic of docs/scaling.md. */
const { values } = parseArgs({
  options: {
    videos: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "4" },
    /** Size of a recording. */
    mebibytes: { type: "string", default: "75" },
    /** Load in the busiest hour relative to the mean. */
    peak: { type: "string", default: "3" },
    /** Target utilization of a worker's CPU time. */
    busy: { type: "string", default: "0.7" },
  },
});

/** From `npm run bench:speech`: bundled engine, decoding and everything else, for an hour of speech. */
const CPU_SECONDS_AN_AUDIO_HOUR = 52.6;
/**
 * Not measured here, but published in SYSTRAN/faster-whisper, issue 1030: large-v3-turbo, fp16, RTX 2080 Ti, 13 minutes
 * of audio.
 */
const GPU_SECONDS_AN_AUDIO_HOUR = (19.155 / 13) * 60;
/** From `npm run bench:queue -- --only cost`. */
const STATEMENTS = 64;
const TRANSACTIONS = 26;
const ROW_WRITES = 26;
const LOG_KIB = 10;
const ROWS_KIB = 13.1;
const IDLE_STATEMENTS_A_WORKER_SECOND = 0.6;
/** Size of the words, captions, text, confidence and waveform for a minute of speech. */
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
  `${round(videos)} videos of ${values.minutes} minutes per day`,
  ["what", "needed"],
  [
    [
      "videos per second, mean and in the busiest hour",
      `${perSecond.toFixed(1)}, ${(perSecond * Number(values.peak)).toFixed(1)}`,
    ],
    ["audio", `${round(audioHours)} hours per day`],
    ["cores, bundled engine", round(cores)],
    [`worker processes of ${CORES_A_WORKER} cores`, round(workers)],
    ["or GPUs, by published figures", round(gpus)],
    [
      "PostgreSQL: statements per second, work and idle polling",
      `${round(perSecond * STATEMENTS)} + ${round(workers * IDLE_STATEMENTS_A_WORKER_SECOND)}`,
    ],
    ["PostgreSQL: transactions per second", round(perSecond * TRANSACTIONS)],
    ["PostgreSQL: rows written per second", round(perSecond * ROW_WRITES)],
    ["PostgreSQL: write-ahead log", `${((videos * LOG_KIB) / 1024 ** 2).toFixed(0)} GiB per day`],
    ["PostgreSQL: permanent rows", `${((videos * ROWS_KIB) / 1024 ** 2).toFixed(0)} GiB per day`],
    ["PostgreSQL: connections, without a pooler", round((workers + 4) * CONNECTIONS_A_PROCESS)],
    ["recordings in", `${recordingsTib.toFixed(0)} TiB per day, ${gigabits(recordingsTib)} Gbit/s`],
    ["recordings from the bucket to workers", `${gigabits(recordingsTib)} Gbit/s`],
    [
      "transcripts' files",
      `${((videos * Number(values.minutes) * FILES_KIB_A_MINUTE) / 1024 ** 2).toFixed(0)} GiB per day`,
    ],
    ["bucket: write requests per second", round(perSecond * (Number(values.mebibytes) / PART_MIB + 2 + 5))],
    ["webhooks per second, with one endpoint per environment", perSecond.toFixed(1)],
  ],
);
