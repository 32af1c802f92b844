import { type Mutation, mutationsOf as of } from "./mutation.ts";

const DELIVERIES = ["server/test/webhooks/deliver.test.ts"];
const ATTEMPTS = [
  "server/test/transcription/attempts.test.ts",
  "server/test/transcription/attempt-successors.test.ts",
];
const CORRECTIONS = ["server/test/corrections/corrections.test.ts"];

/** State transitions, fences, captions and speech recognition. */
export const transcriptionMutations: Mutation[] = [
  // State transitions
  ...of(
    "server/src/transcription/queries.ts",
    [...ATTEMPTS, "server/test/transcription/lost-claims.test.ts"],
    [
      ['    .where("attempt", "=", lease.attempt)\n', ""],
      ['    .where("status", "=", "PROCESSING");\n', ";\n"],
      ['    .where("status", "=", "FAILED")\n', ""],
      ["      crash_count: 0,\n", ""],
      ["      failure_count: 0,\n", ""],
    ],
  ),
  ...of(
    "server/src/transcription/queries.ts",
    ["server/test/transcription/cancel.test.ts"],
    [
      ['    .where("status", "in", ["PENDING", "PROCESSING"])\n', ""],
      ['await endAttempt(tx, lease, { outcome: "failed", failure, now });', ""],
    ],
  ),
  ...of(
    "server/src/videos/queue-positions.ts",
    ["server/test/videos/start-estimates.test.ts"],
    [["  if (isStuck) return [];\n", ""]],
  ),
  ...of(
    "server/src/transcription/run.ts",
    ["server/test/transcription/checkpoints.test.ts"],
    [
      ["if (!hasUsefulCheckpoints) await removeCheckpoints(tx, row.id);", ""],
      ["attempt.advances || (!attempt.resumes &&", "attempt.advances && (!attempt.resumes &&"],
    ],
  ),
  ...of(
    "server/src/transcription/run.ts",
    ["server/test/transcription/attempt-model-waits.test.ts"],
    [
      ["&& (attempt.wasModelExpected || deps.isModelExpected())", "&& deps.isModelExpected()"],
      ['return language === "und" && used.every(', "return used.every("],
      [" && used.every((name) => name === BUNDLED_ENGINE_NAME);", ";"],
    ],
  ),
  ...of(
    "server/src/transcription/recognize.ts",
    ["server/test/transcription/checkpoints.test.ts"],
    [["    await Promise.all(saves);\n", ""]],
  ),
  ...of(
    "speech/src/checkpoints/checkpoint-cache.ts",
    ["speech/test/checkpoints/checkpoints.slow.test.ts"],
    [["samples.length} ${checksum(samples)}`", "samples.length}`"]],
  ),
  ...of(
    "server/src/transcription/cancel.ts",
    ["server/test/transcription/cancel.test.ts"],
    [
      ["await removeQueuedJob(tx, row.environment_id, row.job_id);", ""],
      ['await emitEvent({ tx, queue, now }, row, "transcriptions.transcription.failed", detail);', ""],
    ],
  ),
  ...of(
    "server/src/transcription/attempt-queries.ts",
    ["server/test/transcription/cancel.test.ts"],
    [[" && row.failure_code === failureCode", ""]],
  ),
  ...of("server/src/transcription/run.ts", ATTEMPTS, [
    ['if (!moved) return await hasMovedEarlier(tx, attempt, "completed");', ""],
    ['if (!moved) return await hasMovedEarlier(tx, attempt, "skipped");', ""],
    [
      'if (!failed) return await hasMovedEarlier(tx, attempt, "failed", failure.code);',
      "if (!failed) return true;",
    ],
    ['return await hasMovedEarlier(tx, attempt, "returned", failure.code);', "return true;"],
    ["if (await hasEndedAs(tx, lease, outcome, failureCode)) return true;", ""],
    ['log.warn(lost, "the worker of the previous attempt was lost; this attempt takes over");', ""],
  ]),
  ...of("server/src/transcription/claim-queries.ts", ATTEMPTS, [
    ['status === "PROCESSING" ? 1 : 0', "0"],
    ['attempt: set("attempt", "+", 1),', ""],
  ]),
  ...of(
    "server/src/queue/fair-queueing.ts",
    ["server/test/queue/fair-queueing.test.ts"],
    [
      ["greatest(queue.finish_tag, (select virtual_time from clock))", "queue.finish_tag"],
      ["set virtual_time = ${start}::bigint where", "set virtual_time = virtual_time where"],
      ["Math.min(old, virtualTime)", "0"],
      ["if (start != null) await markForRetag", "if (false) await markForRetag"],
      ["Math.max(MIN_PRIORITY, -Math.ceil(", "(-Math.ceil("],
      ["next = start + Math.ceil(charge / weight);", "next = start + charge;"],
    ],
  ),
  ...of(
    "server/src/queue/lost-job-queries.ts",
    ["server/test/queue/lost-jobs.test.ts"],
    [
      ["status in ('PENDING', 'PROCESSING')", "status = 'PENDING'"],
      [" and ${sql.ref(job)} = ${jobId} and ${isWaiting}`.execute", "`.execute"],
    ],
  ),

  // Fences of deliveries
  ...of("server/src/webhooks/queries.ts", DELIVERIES, [
    ['    .where("id", "=", id)\n    .where("job_id", "=", jobId)\n', '    .where("id", "=", id)\n'],
  ]),
  ...of("server/src/webhooks/queries.ts", DELIVERIES, [['    .where("job_id", "=", delivery.jobId)\n', ""]]),
  ...of("server/src/webhooks/endpoint-queries.ts", DELIVERIES, [
    ['    .where("url", "=", url)\n', ""],
    ['    .where("enabled_at", "is not distinct from", enabledAt)\n', ""],
  ]),
  ...of("server/src/webhooks/due-delivery-queries.ts", DELIVERIES, [
    ["and delivery.job_id = attempt.job_id and delivery.status", "and delivery.status"],
    ["if (delivery?.job_id !== jobId) return undefined;", "if (!delivery) return undefined;"],
    ['    .where("status", "=", "pending")\n', ""],
  ]),
  ...of(
    "server/src/webhooks/schedule.ts",
    ["server/test/webhooks/schedule.test.ts"],
    [
      ["outcome.status < 300", "outcome.status < 400"],
      [">= MAX_FAILING_MS", ">= 0"],
    ],
  ),

  // Captions and voice activity
  ...of(
    "captions/src/cues.ts",
    ["captions/test/cues.test.ts"],
    [
      ["    channels[to - 1] === channels[from] &&\n", ""],
      ["    ends[to - 1]! - starts[from]! <= MAX_CUE_MS &&\n", ""],
      [" &&\n    starts[to - 1]! - ends[to - 2]! < LONG_PAUSE_MS", ""],
      ["const spoken = measures.ends[to - 1]!;", "const spoken = measures.ends[from]!;"],
      ["(20 * NARROW_WIDTH)", "(25 * NARROW_WIDTH)"],
      ["return Math.min(end, start + MAX_CUE_MS);", "return end;"],
      ["const MIN_CUE_MS = 1000;", "const MIN_CUE_MS = 800;"],
    ],
  ),
  ...of(
    "speech/src/processes/speech-process.ts",
    ["speech/test/processes/process-faults.slow.test.ts"],
    [["  #msSinceHeartbeat: number | null = null;", "  #msSinceHeartbeat: number | null = 0;"]],
  ),
  ...of(
    "speech/src/vad/voice-activity.ts",
    ["speech/test/vad/voice-activity.test.ts"],
    [
      ["SPEECH_ENDS = 0.35", "SPEECH_ENDS = 0.45"],
      ["SPEECH_BEGINS = 0.5", "SPEECH_BEGINS = 0.45"],
      ["MIN_SHORT_PROBABILITY = 0.65", "MIN_SHORT_PROBABILITY = 0.55"],
    ],
  ),
  ...of(
    "speech/src/vad/voice-activity.ts",
    ["speech/test/vad/background.test.ts"],
    [
      ["silence.indexOf(true, start)", "-1"],
      ["background.slice(start, limit).lastIndexOf(false) + 1", "limit - start"],
    ],
  ),

  // Servers, models and channels
  ...of(
    "speech/src/engines/openai/openai.ts",
    ["speech/test/engines/openai/openai.test.ts"],
    [
      ["if (isSuspect && !areSpellingsOfSame(plain, result)) return plain;\n", ""],
      ["if (isSuspect && !areSpellingsOfSame(plain, result)) return plain;", "if (isSuspect) return plain;"],
      ["!isSuspect && !isDoubtful", "!isDoubtful"],
    ],
  ),
  ...of(
    "speech/src/models/install.ts",
    ["speech/test/models/try-model.test.ts"],
    [
      ["if (isRejected) await rm(", "await rm("],
      ['error instanceof SpeechError && error.code === "model_unusable";', "false;"],
    ],
  ),
  ...of(
    "speech/src/models/install.ts",
    ["speech/test/models/store.test.ts"],
    [
      [
        "await moveInto(partialFolder, folder);\n",
        "await rm(join(partialFolder, RECORD_NAME));\nawait moveInto(partialFolder, folder);\n",
      ],
    ],
  ),
  ...of(
    "speech/src/processes/try-model.ts",
    ["speech/test/models/try-model.test.ts"],
    [
      ["memory !== null && memory.availableBytes < neededBytes", "false"],
      ['error.signal === "SIGKILL"', "true"],
      ['error.signal === "SIGKILL"', "false"],
    ],
  ),
  ...of(
    "speech/src/models/measured-speed.ts",
    ["speech/test/models/measured-speed.test.ts"],
    [
      ["languageSegments.every(({ engine }) => engine === name)", "true"],
      ["    if (stored.machine === machine && speechSeconds > 0", "    if (speechSeconds > 0"],
      ["isFastEnough: stored.isFastEnough === true", "isFastEnough: false"],
    ],
  ),
  ...of(
    "speech/src/channels/separate-speakers.ts",
    ["speech/test/channels/separate-speakers.test.ts"],
    [
      ["overlapShare <= MAX_OVERLAP_SHARE &&", ""],
      ["highestCorrelation(levels) <= MAX_CORRELATION", "true"],
    ],
  ),
  ...of(
    "speech/src/channels/mute-leakage.ts",
    ["speech/test/channels/separate-speakers.test.ts"],
    [["if (leakage[frame] !== 1) continue;", "continue;"]],
  ),
  ...of(
    "speech/src/recognition/merge-channels.ts",
    ["speech/test/recognition/merge-channels.test.ts"],
    [["|| mine.end - other.start > MAX_DELAY_SECONDS", ""]],
  ),
  ...of("server/src/corrections/correct.ts", CORRECTIONS, [
    ["lacksChannels ? keepChannels(words, current) : words", "words"],
  ]),
];
