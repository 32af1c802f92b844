import { COSTS, computeCapacity, DEFAULT_LOAD } from "../../bench/src/capacity.ts";
import { renderTable } from "./markdown.ts";

/** Renders the costs of one video. */
export function renderCosts(): string {
  return renderTable(
    ["", "", "measured by"],
    [
      [
        "speech-to-text, bundled engine",
        `${COSTS.cpuSecondsPerAudioHour} s of processor time per hour of speech, including decoding and everything else`,
        "`npm run bench:speech`",
      ],
      [
        "the same on a GPU, `large-v3-turbo`",
        `${COSTS.gpuSecondsPerAudioHour.toFixed(0)} s of an RTX 2080 Ti per hour: **reported by others** (SYSTRAN/faster-whisper, issue 1030), not tested here`,
        "",
      ],
      [
        "PostgreSQL, from the upload's row to the delivered webhook",
        `${COSTS.statements} statements, ${COSTS.transactions} transactions, ${COSTS.rowWrites} rows written, ${COSTS.logKib} KiB of write-ahead log`,
        "`npm run bench:queue -- --only cost`",
      ],
      [
        "PostgreSQL, an idle worker",
        `${COSTS.idleStatementsPerWorkerMinute} statements per minute, all of them reads`,
        "counted with the preload of `npm run bench:idle`",
      ],
      [
        "stored rows",
        `${COSTS.rowsKib.toFixed(0)} KiB with indexes; the search index adds ${COSTS.searchIndexMbPerAudioHour} MB per hour of speech`,
        "`npm run bench:queue -- --only cost`",
      ],
      [
        "transcript files",
        `about ${COSTS.filesKibPerMinute} KiB per minute: 107 words, 45 bytes each in JSON, plus captions, text, confidence, waveform`,
        "calculated",
      ],
      [
        "the recording",
        "written once in parts of 5 MiB, read twice by a worker: for the transcription and for the poster",
        "",
      ],
    ],
  );
}

/** Renders the resources that the default load needs. */
export function renderCapacity(): string {
  const { head, rows } = computeCapacity(DEFAULT_LOAD);
  return renderTable(head, rows);
}
