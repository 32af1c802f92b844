/** A change that breaks a critical line and that its tests must catch. */
export interface Mutation {
  file: string;
  /** The original text, which must occur in the file exactly once. */
  original: string;
  replacement: string;
  tests: string[];
}

/** Returns one mutation for each pair. Each must be caught by `tests`. */
function of(file: string, tests: string[], pairs: [original: string, replacement: string][]): Mutation[] {
  return pairs.map(([original, replacement]) => ({ file, original, replacement, tests }));
}

const KEYS = ["server/test/api-keys/api-keys.test.ts", "server/test/transcription/transcription.test.ts"];
const DELIVERIES = ["server/test/webhooks/deliver.test.ts"];
const UPLOADS = ["server/test/uploads/uploads.test.ts"];
const NEW_VIDEO = ["server/test/uploads/transcribe-as-new-video.test.ts"];
const STORED_FILES = ["server/test/cleanup/stored-files.test.ts"];
const ATTEMPTS = [
  "server/test/transcription/attempts.test.ts",
  "server/test/transcription/attempt-successors.test.ts",
];
const CORRECTIONS = ["server/test/corrections/corrections.test.ts"];
const FILE_ACCESS = ["server/test/health/file-access.test.ts"];

const BULK_OPERATIONS = ["server/test/bulk-operations/bulk-operations.test.ts"];

export const mutations: Mutation[] = [
  // Bulk operations
  ...of("server/src/bulk-operations/queries.ts", BULK_OPERATIONS, [
    ['          .where("environment_id", "=", row.environment_id)\n', ""],
    [
      '    .where("job_id", "=", jobId)\n    .where("state", "in", UNFINISHED)\n',
      '    .where("state", "in", UNFINISHED)\n',
    ],
  ]),
  ...of("server/src/bulk-operations/run.ts", BULK_OPERATIONS, [
    ['(tx) => recordOrRollBack(tx, item, "done")', "async () => {}"],
    ["        await turn;\n", ""],
  ]),
  ...of(
    "server/src/bulk-operations/queries.ts",
    ["server/test/bulk-operations/archive.test.ts"],
    [
      ['    .where("state", "=", "queued")\n', ""],
      [
        '    .where("environment_id", "=", environmentId)\n    .where("kind", "=", "download")\n',
        '    .where("kind", "=", "download")\n',
      ],
    ],
  ),
  // Corrections
  ...of("server/src/corrections/queries.ts", CORRECTIONS, [
    ['    .where("edit_version", "=", row.edit_version)\n', ""],
    ["      file_formats: JSON.stringify(FILE_FORMATS),\n", ""],
  ]),
  ...of("server/src/cleanup/missing-file-queries.ts", CORRECTIONS, [
    ["prefix === current ? (file_formats ?? []) : FORMATS_OF_EARLIER_VERSIONS", "file_formats ?? []"],
  ]),
  ...of("server/src/search/document-queries.ts", CORRECTIONS, [
    ["{ job_id: document.jobId, indexed_at: null }", "{ job_id: document.jobId }"],
    [
      '    .where("number", "=", number)\n    .where("job_id", "=", jobId)\n    .forUpdate()\n',
      '    .where("number", "=", number)\n    .forUpdate()\n',
    ],
    ["await deletePassages(tx, document.number, { from: passageCount, to: null })", "0"],
  ]),
  ...of("server/src/search/index-transcript.ts", CORRECTIONS, [
    ["currentPrefix(document) ?? document.file_prefix", "document.file_prefix"],
  ]),
  ...of(
    "dashboard/src/features/video-detail/correction/editing-session.ts",
    ["dashboard/test/editing-session.test.ts"],
    [['    if (this.#state.save !== "refused") await this.save();\n', ""]],
  ),
  ...of(
    "dashboard/src/features/video-detail/correction/paragraphs/word-range.ts",
    ["dashboard/test/word-range.test.ts"],
    [["isSameSpeaker(previous, word) && previous.channel === word.channel", "true"]],
  ),
  ...of(
    "dashboard/src/features/video-detail/correction/merge-words.ts",
    ["dashboard/test/edit-sequences.test.ts"],
    [["    if (!isEqual(mine, theirs)) addConflict(merge, textOf(mine), textOf(theirs));\n", ""]],
  ),
  ...of("server/src/cleanup/stored-files.ts", CORRECTIONS, [
    ['if (savedAt >= replacedBefore) return "needed";', ""],
    ['revisions.has(owner.prefix) ? "needed" : ', ""],
  ]),
  ...of("server/src/corrections/correct.ts", CORRECTIONS, [
    [
      "if (!(await advanceRevision(tx, row, revision))) throwStale();",
      "await advanceRevision(tx, row, revision);",
    ],
  ]),
  ...of(
    "server/src/resources/serializers.ts",
    ["server/test/corrections/running-service.test.ts"],
    [["const prefix = currentPrefix(row);", "const prefix = row.file_prefix;"]],
  ),
  ...of(
    "dashboard/src/ui/queue-text.ts",
    ["dashboard/test/queue-text.test.ts"],
    [["position > MAX_SHOWN_POSITION", "position >= MAX_SHOWN_POSITION"]],
  ),
  ...of(
    "server/src/corrections/etag.ts",
    ["server/test/corrections/etag.test.ts"],
    [
      ["etags.includes(wordsEtag(row))", "etags.length > 0"],
      ['etags.includes("*") || ', ""],
    ],
  ),
  // The list of videos
  ...of(
    "server/src/videos/list-view.ts",
    ["server/test/admin/video-list.test.ts"],
    [
      ['      .where("video.environment_id", "=", environmentId)\n', ""],
      ['text.replace(/[\\\\%_]/g, "\\\\$&")', "text"],
    ],
  ),
  // API keys
  ...of("server/src/api-keys/api-keys.ts", KEYS, [
    ['!row || !timingSafeEqual(hash(key), Buffer.from(row.key_hash, "hex"))', "!row"],
    ["if (checksum(key.slice(0, -CHECKSUM_LENGTH)) !== match[3]) return undefined;", ""],
    ["row.revoked_at || ", ""],
    [" || (row.expires_at && row.expires_at <= clock.now())", ""],
  ]),
  ...of("server/src/api-keys/authorize.ts", KEYS, [
    ["if (!key.permissions.includes(permission)) {", "if (false) {"],
  ]),

  // Vocabulary
  ...of(
    "speech/src/engines/vocabulary.ts",
    ["speech/test/engines/vocabulary.test.ts"],
    [["return addsTerm && isSimilar && isProbable ? prompted : plain;", "return prompted;"]],
  ),
  ...of(
    "speech/src/engines/whisper/whisper.ts",
    ["speech/test/engines/whisper/decoding.test.ts"],
    [
      ["temperature === 0 ? vocabularyTokens : []", "[]"],
      ["if (isTimestamp(sequence.tokens[last - 1])) last -= 1;", ""],
      [
        "isLoop: (row, sequence) => this.#isLoop(utterances[row]!, languages[row] ?? null, sequence)",
        "isLoop: () => false",
      ],
    ],
  ),
  ...of(
    "speech/src/checkpoints/checkpoint-cache.ts",
    ["speech/test/engines/vocabulary.test.ts"],
    [['${languages?.[index] ?? ""}${terms}`', '${languages?.[index] ?? ""}`']],
  ),
  ...of(
    "server/src/transcription/recognize.ts",
    ["server/test/transcription/checkpoints.test.ts"],
    [["await findVocabulary(deps.db, row.environment_id)", "[]"]],
  ),

  // Documentation
  ...of(
    "server/src/api/docs.ts",
    ["server/test/docs/site.test.ts"],
    [[`"script-src": "'self'",`, `"script-src": "'self' 'unsafe-inline'",`]],
  ),
  ...of(
    "server/src/http/static-files.ts",
    ["server/test/docs/site.test.ts"],
    [['plain ?? (await promisify(gunzip)(encoded.gzip ?? ""))', "plain ?? encoded.gzip"]],
  ),

  // Files that only the service's user may read
  ...of("server/src/cli.ts", FILE_ACCESS, [["process.umask(0o077);", ""]]),
  ...of("server/src/db/embedded/durable-node-fs.ts", FILE_ACCESS, [["mode & OWNER_ONLY", "mode"]]),
  ...of(
    "server/src/lib/secret-token.ts",
    ["server/test/admin/operators.test.ts"],
    [['createHash("sha256").update(token).digest("hex")', "token"]],
  ),

  // Roles of the admin API
  ...of(
    "server/src/admin/access.ts",
    ["server/test/admin/authorization.test.ts"],
    [
      ["if (roles.some((role) => callers.includes(role))) return actor;", "return actor;"],
      ['if (callers === "command line") {', "if (false) {"],
      ['if (callers === "session") throw', "if (false) throw"],
      ['if (callers === "anyone") return null;', 'if (typeof callers === "string") return null;'],
      ['if (scope === "all environments") return [];', 'if (scope === "all environments") return ["owner"];'],
      ["if (!membership) throw scope.notFound(value);", 'if (!membership) return ["owner"];'],
      ["return [membership.role];", 'return ["owner"];'],
    ],
  ),
  ...of(
    "server/src/admin/scope.ts",
    ["server/test/admin/authorization.test.ts"],
    [
      ["if (!scope || (start !== undefined && roleIn)) {", "if (!scope) {"],
      ["?? (await findVideo(db, id))?.environment_id", ""],
    ],
  ),
  ...of(
    "server/src/admin/environments.ts",
    ["server/test/admin/operators.test.ts"],
    [
      ["if (role === null) return [];", ""],
      ["const maySeeSettings = VIEWERS.some((each) => each === role);", "const maySeeSettings = true;"],
    ],
  ),
  ...of(
    "server/src/operators/queries.ts",
    ["server/test/admin/operators.test.ts"],
    [
      ['if ((await lockLastOwner(tx)) === id && role !== "owner") return "last_owner";', ""],
      ['if ((await lockLastOwner(tx)) === id) return "last_owner";', ""],
      ['await tx.deleteFrom("operator_membership").where("operator_id", "=", id).execute();', ""],
    ],
  ),
  ...of(
    "server/src/admin/videos/stream.ts",
    ["server/test/admin/video-stream.slow.test.ts"],
    [['if (await isAuthorized()) send(":\\n\\n");', 'if (true) send(":\\n\\n");']],
  ),
  ...of(
    "server/src/admin/videos/detail.ts",
    ["server/test/admin/video-page.test.ts"],
    [
      [
        'if (transcription && roleIn(actor, video.environment_id) === "editor") transcription.events = [];',
        "",
      ],
    ],
  ),

  // Signatures
  ...of(
    "server/src/storage/disk/file-url.ts",
    ["server/test/api/files.test.ts"],
    [
      ['"subtext file url 1", key, expires,', '"subtext file url 1", expires,'],
      ['"subtext file url 1", key, expires,', '"subtext file url 1", key,'],
      ["key, expires, fileName, contentType]", "key, expires, contentType]"],
      ["key, expires, fileName, contentType]", "key, expires, fileName]"],
      ["if (parameters.size !== 4) return null;", ""],
      ["equalInConstantTime(signature, signFileUrl(claims, secret)) ? claims : null", "claims"],
    ],
  ),
  ...of(
    "server/src/webhooks/sign.ts",
    ["server/test/webhooks/sign.test.ts"],
    [
      ["`${id}.${seconds}.${body}`", "`${seconds}.${body}`"],
      ["`${id}.${seconds}.${body}`", "`${id}.${body}`"],
      ["key.length < 24 || ", ""],
      [' || key.toString("base64") !== encoded', ""],
    ],
  ),
  ...of("server/src/webhooks/request.ts", DELIVERIES, [
    ["previous && expiresAt && now < expiresAt ? [secret, previous]", "previous ? [secret, previous]"],
    ["previous && expiresAt && now < expiresAt ? [secret, previous]", "false ? [secret, previous]"],
  ]),
  ...of(
    "client/src/verify-webhook.ts",
    ["client/test/sdk-verify-webhook.test.ts"],
    [
      ["if (!(await isSigned(signed, signatures, keys))) {", "if (false) {"],
      ["Math.abs(now.getTime() - sentAt.getTime())", "now.getTime() - sentAt.getTime()"],
      ["if (keys.length === 0) throw", "if (false) throw"],
      ["if (bytes.length < MIN_SECRET_BYTES)", "if (false)"],
    ],
  ),
  ...of(
    "server/src/storage/content-disposition.ts",
    ["server/test/storage/disk-transcript-store.test.ts"],
    [
      ['safeFileName(fileName.normalize("NFKD")', '(fileName.normalize("NFKD")'],
      ["/[^\\x20-\\x7E]|%/g", "/[^\\x20-\\x7E]/g"],
    ],
  ),

  // URL guard
  ...of(
    "server/src/webhooks/guard-url.ts",
    ["server/test/webhooks/guard-url.test.ts"],
    [
      ["if (canonical === null) return true;", "if (canonical === null) return false;"],
      ["!isException || isForbiddenAddress(translated, policy)", "!isException"],
      ["return !isException && !isPublic(parsed);", "return !isPublic(parsed);"],
      [" || isWithin(address, PUBLIC_BUT_INTERNAL)", ""],
      ["address instanceof ipaddr.IPv4 || isWithin(address, [GLOBAL_UNICAST_V6])", "true"],
      ["found.filter(({ address }) => !isForbiddenAddress(address, policy))", "found"],
      ['if (url.username !== "" || url.password !== "")', "if (false)"],
      ["if (literal !== null && isForbiddenAddress(literal, policy)) {", "if (false) {"],
      ["if (literal !== null && isForbiddenAddress(literal, policy)) throw", "if (false) throw"],
    ],
  ),

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

  // Channels
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

  // Uploads
  ...of("server/src/cleanup/sweep-uploads.ts", UPLOADS, [
    ["if (await deleteExpiredUpload(db, video.id, uploadExpiryMs)) {", "if (false) {"],
    ["file.sizeBytes === video.size_bytes", "false"],
  ]),
  ...of("server/src/uploads/queries.ts", UPLOADS, [
    ["if (now - recordedAt >= everyMs) {", "if (recordedAt < 0) {"],
    ["upload_active_at < ${timeAgo(RECORD_EVERY_MS)}", "true"],
    ['.where("upload_active_at", "<", timeAgo(expiryMs))', ""],
    [
      '.where("upload_active_at", "<", timeAgo(expiryMs))',
      '.where("upload_active_at", ">", timeAgo(expiryMs))',
    ],
    [
      '    .where("id", "=", videoId)\n    .where("uploaded_at", "is", null)\n',
      '    .where("id", "=", videoId)\n',
    ],
  ]),
  ...of(
    "server/src/transcription/start-speech-early.ts",
    ["server/test/transcription/start-speech-early.test.ts"],
    [["!(await hasAiTranscription(db, environmentId)) || ", ""]],
  ),
  ...of(
    "server/src/main.ts",
    ["server/test/transcription/start-speech-early.test.ts"],
    [["if (isWorking) ", ""]],
  ),
  ...of("server/src/uploads/accept-upload.ts", NEW_VIDEO, [
    ["    if (video.source_video_id !== null && !aiTranscription) throw aiTranscriptionOff();\n", ""],
  ]),
  ...of("server/src/uploads/transcribe-as-new-video.ts", NEW_VIDEO, [
    ["  if (deletedAt !== null) throw recordingDeleted();\n", ""],
    ["source.uploaded_at === null || isUnfinished", "source.uploaded_at === null"],
    ["  if (!environment?.ai_transcription) throw aiTranscriptionOff();\n", ""],
  ]),
  ...of("server/src/cleanup/sweep-uploads.ts", NEW_VIDEO, [
    ["if (!isRefused || !mayDelete) return;", "return;"],
  ]),
  ...of("server/src/uploads/upload-store.ts", NEW_VIDEO, [
    ["if (!(await deleteOpenUpload(db, uploadId))) return;", "await deleteOpenUpload(db, uploadId);"],
  ]),
  ...of("server/src/uploads/upload-store.ts", UPLOADS, [["Date.now() - idleMs", "Date.now()"]]),
  ...of("server/src/uploads/disk-upload-store.ts", UPLOADS, [
    ["recordActivity(this.#db, uploadId, readable)", "readable"],
  ]),
  ...of(
    "server/src/storage/part-buffer.ts",
    ["server/test/storage/part-buffer.test.ts"],
    [
      ["if (this.#chunkBytes <= MEMORY_BYTES) return;", "return;"],
      ["  await rm(path);\n", ""],
      ["    this.#fileBytes = 0;\n", ""],
      ["    release?.();\n", ""],
    ],
  ),
  ...of(
    "server/src/storage/object-upload.ts",
    ["server/test/storage/part-buffer.test.ts"],
    [
      ["Math.floor(bytes / partBytes)", "9"],
      ["onDisk.enter(videoId, signal)", "onDisk.reenter(videoId)"],
    ],
  ),
  ...of(
    "server/src/http/app.ts",
    ["server/test/http/half-closed.test.ts"],
    [["Object.assign(app.server, { httpAllowHalfOpen: true });", ""]],
  ),
  ...of(
    "server/src/http/idle-connections.ts",
    ["server/test/http/idle-connections.test.ts"],
    [
      ["response.headersSent || !hasArrived", "true"],
      [" || request.readableLength > 0", ""],
    ],
  ),

  // Sweeps, retention and backup
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
    "server/src/posters/make-poster.ts",
    ["server/test/posters/posters.test.ts"],
    [
      ["if (job.retryCount >= MAX_TRIES)", "if (false)"],
      ["if (job.retryCount + 1 < MAX_TRIES) throw error;", "throw error;"],
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
