import { type Mutation, mutationsOf as of } from "./mutation.ts";

const STORED_FILES = ["server/test/cleanup/stored-files.test.ts"];

/** Sweeps, retention and backup. */
export const cleanupMutations: Mutation[] = [
  ...of(
    "server/src/cleanup/stored-files.ts",
    ["server/test/transcription/attempt-files.test.ts"],
    [['(row.status === "PROCESSING" && row.attempt === attempt)', "false"]],
  ),
  ...of("server/src/cleanup/stored-files.ts", STORED_FILES, [
    ['return attempt <= row.attempt ? "obsolete" : "unknown";', 'return "obsolete";'],
    ['return tombstones.has(id) ? "obsolete" : "unknown";', 'return "obsolete";'],
    ['tombstones.has(owner.transcriptionId) ? "obsolete" : "unknown"', '"obsolete"'],
    ['if (!owner) return "unknown";', 'if (!owner) return "obsolete";'],
  ]),
  ...of("server/src/cleanup/sweep-stored-files.ts", STORED_FILES, [
    ["const UNKNOWN_FILE_RETENTION_MS = 7 * DAY_MS", "const UNKNOWN_FILE_RETENTION_MS = 0 * DAY_MS"],
  ]),
  ...of(
    "server/src/storage/ownership/store-ownership.ts",
    ["server/test/storage/claim-store.test.ts"],
    [
      ['if (mark.generation > record.generation) return "newer_store";', ""],
      ["mark.generation === record.generation && mark.token !== record.token", "false"],
      ['if (mark.owner !== record.owner) return "other_database";', ""],
      ["Math.max(record.generation, mark?.generation ?? 0) + 1", "record.generation + 1"],
      ["    await restartUploadExpiry(this.#db);\n", ""],
    ],
  ),
  ...of(
    "server/src/storage/ownership/claim-store.ts",
    ["server/test/storage/claim-store.test.ts"],
    [["    await restartUploadExpiry(db);\n", ""]],
  ),
  ...of(
    "server/src/videos/retention-queries.ts",
    ["server/test/cleanup/retention.test.ts"],
    [
      ["if (since === null || since >= dueBefore(retention, now)) return null;", ""],
      ["  if (transcription && !ENDED.some((status) => status === transcription.status)) return null;\n", ""],
    ],
  ),
  ...of(
    "server/src/videos/retention-queries.ts",
    ["server/test/posters/posters.test.ts"],
    [["poster_prefix: null, poster_ended_at: now", "poster_ended_at: now"]],
  ),
  ...of(
    "server/src/cleanup/stored-files.ts",
    ["server/test/posters/posters.test.ts"],
    [["row.poster_prefix === prefix || isBeingMade", "row.poster_prefix === prefix"]],
  ),
  ...of(
    "server/src/posters/queries.ts",
    ["server/test/posters/posters.test.ts"],
    [
      [
        'poster_levels: levels })\n    .where("id", "=", transcriptionId)\n    .where("poster_job_id", "=", jobId)\n    .where("poster_ended_at", "is", null)',
        'poster_levels: levels })\n    .where("id", "=", transcriptionId)\n    .where("poster_job_id", "=", jobId)',
      ],
    ],
  ),
  ...of(
    "server/src/cleanup/sweep-missing-files.ts",
    ["server/test/posters/posters.test.ts"],
    [
      ["priority: REMADE_POSTER_PRIORITY", "priority: 0"],
      ["if (missing.length + posters.length > 0) await transcripts.check();", ""],
      ["posters.length > 0 && (await containsFiles(transcripts))", "posters.length > 0"],
    ],
  ),
  ...of(
    "server/src/posters/make-poster.ts",
    ["server/test/posters/posters.test.ts"],
    [
      ["if (job.retryCount >= MAX_TRIES)", "if (false)"],
      ["if (job.retryCount + 1 < MAX_TRIES) throw error;", "throw error;"],
      ["subjectId, delayMs, priority }", "subjectId, delayMs }"],
    ],
  ),
  ...of(
    "server/src/backup/preserve-files.ts",
    ["server/test/backup/preserve-files.test.ts"],
    [
      ["named.recording !== null && named.isUploaded", "named.recording !== null"],
      ["if (!(await tryLink(from, to))) await copyFile", "await copyFile"],
    ],
  ),
];
