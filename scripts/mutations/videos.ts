import { type Mutation, mutationsOf as of } from "./mutation.ts";

const UPLOADS = ["uploads", "uploads-deferred-length"].map((name) => `server/test/uploads/${name}.test.ts`);
const NEW_VIDEO = ["server/test/uploads/transcribe-as-new-video.test.ts"];
const CORRECTIONS = ["server/test/corrections/corrections.test.ts"];
const BULK_OPERATIONS = ["server/test/bulk-operations/bulk-operations.test.ts"];

/** Uploads, lists, corrections and operations on many videos. */
export const videosMutations: Mutation[] = [
  // Uploads
  ...of("server/src/cleanup/sweep-uploads.ts", UPLOADS, [
    ["if (await deleteExpiredUpload(db, video.id, uploadExpiryMs)) {", "if (false) {"],
    ["file.sizeBytes === video.size_bytes", "false"],
  ]),
  ...of("server/src/environments/limits.ts", UPLOADS, [
    ["coalesce(size_bytes, received_bytes)", "size_bytes"],
    [" and id <> ${except}", ""],
  ]),
  ...of("server/src/uploads/queries.ts", UPLOADS, [
    ["now - recordedAt >= everyMs ||", "recordedAt < 0 ||"],
    [" || (isDeferred && receivedBytes - recordedBytes >= everyBytes)", ""],
    [
      "(isDeferred && receivedBytes - recordedBytes >= everyBytes)",
      "receivedBytes - recordedBytes >= everyBytes",
    ],
    ["      if (refusal) throw refusal;\n", ""],
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
    ["recordActivity(this.#db, uploadId, readable, arrival)", "readable"],
  ]),
  ...of(
    "server/src/uploads/disk-upload-store.ts",
    ["server/test/uploads/uploads-refusals.test.ts"],
    [["        await this.requireSpace(0);\n", ""]],
  ),
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
    "server/src/http/while-connected.ts",
    ["server/test/http/half-closed.test.ts"],
    [['socket.once("end", abort).once("close", abort);', 'socket.once("close", abort);']],
  ),
  ...of(
    "server/src/http/app.ts",
    ["server/test/http/half-closed.test.ts"],
    [["Object.assign(app.server, { httpAllowHalfOpen: true });", ""]],
  ),
  ...of(
    "server/src/http/app.ts",
    ["server/test/http/idle-connections.test.ts"],
    [
      ["response.headersSent || !hasArrived", "true"],
      [" || request.readableLength > 0", ""],
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
    [["    addConflict(merge, textOf(mine), textOf(theirs));\n", ""]],
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

  // Bulk operations
  ...of("server/src/bulk-operations/queries.ts", BULK_OPERATIONS, [
    ['    .where("environment_id", "=", row.environment_id)\n', ""],
    [
      '    .where("job_id", "=", jobId)\n    .where("state", "in", UNFINISHED)\n',
      '    .where("state", "in", UNFINISHED)\n',
    ],
    ["finished_at: now, selection: null }", "finished_at: now }"],
    ['    .where("state", "=", "queued")\n    .where("selection", "is", null)\n', ""],
    ["const through = end?.id ?? last;", "const through = last;"],
    ["  for (const { id } of left) await deleteItems(db, id);\n", ""],
  ]),
  ...of(
    "server/src/bulk-operations/queries.ts",
    ["server/test/queue/many-rows.test.ts"],
    [["batch ? sql`and video_id between ${batch.first} and ${batch.last}` : sql``", "sql``"]],
  ),
  ...of("server/src/bulk-operations/run.ts", BULK_OPERATIONS, [
    ["    await completeSelection(db, operation.id, signal);\n", ""],
    ['(tx) => recordOrRollBack(tx, item, "done")', "async () => {}"],
    ["        await turn;\n", ""],
  ]),
  ...of(
    "server/src/bulk-operations/archive.ts",
    ["server/test/bulk-operations/archive.test.ts"],
    [
      ["  stream = null;\n", ""],
      ["  Buffer.poolSize = 0;\n", ""],
    ],
  ),
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
];
