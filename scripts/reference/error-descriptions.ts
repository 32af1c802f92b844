import type { FailureCode } from "@subtext/client/contract/transcription";
import type { AppErrorCode } from "../../server/src/lib/errors.ts";

/** Cause and remedy of each HTTP error, in Markdown. */
export const ERROR_DESCRIPTIONS: Record<AppErrorCode, string> = {
  missing_api_key: "No `Authorization: Bearer <API_KEY>` was sent.",
  invalid_api_key: "The key is mistyped, unknown, revoked or expired. Create a new key.",
  insufficient_permission: "The key lacks the permission that `detail` names.",
  video_not_found:
    "The id is unknown, malformed, deleted, or belongs to another environment. The response does not say which.",
  transcription_not_found:
    "AI Transcription was off when the video finished uploading. The video will never have a transcription.",
  transcription_not_completed:
    "Only the words of a COMPLETED transcription can be read and changed. `detail` says what state it is in.",
  transcript_changed:
    "Somebody has changed the transcript since you read it, so nothing was saved. Read the words again, repeat your change on them, and send the new `etag`.",
  invalid_words:
    "`detail` names the first invalid word. Words are in order, do not overlap and end within the recording; each has 1 to 200 characters without control characters. A transcript has at most 150,000 words with 1,500,000 characters; text without spaces counts as the words that it is split into.",
  precondition_required:
    "Changes of a transcript need the header `If-Match` with the `etag` of the words that you changed.",
  upload_incomplete:
    "The video has not finished uploading, so it has no transcription yet. Retry after `Retry-After` seconds.",
  route_not_found: "There is no route at this path.",
  method_not_allowed: "`Allow` lists the supported methods.",
  invalid_request:
    "The request is malformed; `detail` says where. This includes invalid HTTP and HTTP/1.1 requests without `Host`.",
  invalid_metadata:
    "Metadata exceeds 4 KiB, or contains characters that cannot be stored: U+0000, or half of a surrogate pair.",
  request_timeout: "The headers took over 20 seconds to arrive, or a JSON body over 30.",
  payload_too_large: "The upload or the body exceeds the limit.",
  headers_too_large: "The URL and all headers together exceed 16 KiB.",
  unsupported_media_type:
    "This endpoint does not accept the body's content type, or the body is compressed. `detail` says what to send.",
  rate_limited:
    "The key exceeded its rate (10 requests per second after a burst of 60 unless configured otherwise), this address sent too many invalid tokens, or there were too many attempts to sign in. Uploads are not rate limited. Wait for `Retry-After` seconds.",
  internal_error: "An internal error; the log has the `requestId`.",
  service_unavailable: "A component of the service does not respond. Retry after `Retry-After` seconds.",
  idempotency_key_reused:
    "The `Idempotency-Key` was used for another request within 24 hours. Create a new key for each operation.",
  idempotency_key_in_use:
    "The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.",
  upload_not_found: "The upload is unknown, was canceled, or belongs to another environment.",
  upload_expired:
    "The upload was unfinished for too long, or did not start while its URL was valid. Create a new upload.",
  upload_conflict:
    "`Upload-Offset` is not the current offset of the upload. Request it with HEAD and continue from there.",
  open_upload_limit_reached:
    "The environment has 1,000 unfinished uploads, or their lengths add up to 100 × `MAX_UPLOAD_BYTES`. An upload with a deferred length counts with its received bytes, so its next chunk can also get this error. Uploads created by `POST /api/v1/videos` count too. Finish some, cancel them, or let them expire.",
  upload_locked:
    "Another request is writing to the upload. A HEAD request also gets this response while the service cannot check the upload, because stock clients continue after 423 but create a second upload after 503.",
  upload_rejected: "The request is not valid tus 1.0; `detail` says why.",
  upload_version_unsupported:
    "`Tus-Resumable: 1.0.0` is missing or names another version. `Tus-Version` lists the supported one.",
  upload_url_invalid:
    "The upload URL is not one that this service signed. Use the complete URL from `POST /api/v1/videos`.",
  origin_not_allowed:
    "Pages of this origin may not send this request. Uploads require one of the environment's allowed origins (`subtext env set --origins`); the admin API requires the origin of `PUBLIC_URL`.",
  storage_full:
    "Uploads leave 1 GiB of the disk free. The operator must free up space; uploads resume where they stopped.",
  storage_unavailable: "The storage does not respond, is overloaded, or refuses every file.",
  storage_object_denied:
    "The storage denies access to this file but serves others. The operator must fix the permissions of the file.",
  storage_object_unusable:
    "The storage serves other files but not this one: it is damaged, archived, or its checksum does not match.",
  file_url_invalid: "The file URL is not one that this service signed. Request a new one.",
  file_url_expired: "File URLs expire after 5 minutes. Read the transcription again to get new ones.",
  file_not_found: "The video was deleted after the URL was created.",
  range_not_satisfiable: "The range starts after the end of the file.",
  webhook_endpoint_not_found:
    "The id is unknown, malformed, deleted, or belongs to another environment. The response does not say which.",
  webhook_endpoint_limit_reached: "The environment has 50 webhook endpoints. Delete one first.",
  webhook_endpoint_disabled: "Nothing is sent to a disabled endpoint. Enable it first.",
  webhook_url_rejected: "The URL is not https, contains a password, or points to a private network.",
  delivery_not_found: "The endpoint has no delivery with this ID.",
  storage_object_missing: "A file that should be in the storage is missing.",
  storage_deletions_stopped:
    "The store belongs to another database, or to a newer state of this one; see [storage.md](storage.md#which-database-may-delete).",
  storage_changed:
    "Admin API: another service wrote to the store after its state was shown to you. Stop that service first.",
  metrics_token_invalid: "The request to `/metrics` has no valid token (`METRICS_TOKEN`).",
  data_folder_in_use: "At startup: another process uses the data folder; the message names it.",
  data_folder_not_writable: "At startup: the user of the service may not write to the data folder.",
  data_folder_mismatch:
    "At startup: the files in the data folder or the bucket belong to another database, the files of this database are elsewhere, or a restore or move of the folder was interrupted.",
  installation_missing:
    "A command found no installation where the settings point. Check `DATA_DIR` and `DATABASE_URL`; `subtext serve` creates one.",
  database_version_mismatch:
    "At startup: the data folder was created by another PostgreSQL version, or the tables by a newer Subtext. See [upgrades](upgrades.md).",
  query_outside_transaction: "An internal error, detected before it became a deadlock. Report it.",
  backup_not_possible: "Admin API: with `DATABASE_URL`, back up with `pg_dump`; see [backup.md](backup.md).",
  backup_running: "Admin API: another backup is running.",
  backup_target_refused:
    "Admin API: the folder of a backup must be new or empty, and outside the data folder.",
  command_line_required:
    "Admin API: only the command line on the service's machine may do this, because backups contain every secret, and settings reveal internal paths and addresses.",
  sign_in_required: "The admin API requires a sign-in.",
  sign_in_failed: "The email or password is wrong. `subtext operators reset-password` sets a new password.",
  role_required:
    "Admin API: the operator's role in the environment, or in all environments, does not allow this.",
  owner_required:
    "Admin API: only owners may do this. If the operation concerns no single environment, only owners of all environments may.",
  set_up_link_invalid:
    "The setup link has already been used, or a later start replaced it. Each start of `serve` prints a new link until the first operator exists; only the latest works.",
  invitation_invalid:
    "The invitation was used or revoked, or is older than seven days. Ask an owner for a new invitation.",
  invitation_not_found: "Admin API: there is no such invitation. It may have been used or revoked.",
  operator_not_found: "No operator has this ID or email.",
  operator_email_taken: "Admin API: an operator with this email already exists.",
  last_owner: "Admin API: the last owner of all environments can neither be removed nor given another role.",
  environment_not_found: "Admin API: no environment has this ID or name, or the operator has no role in it.",
  environment_name_taken: "Admin API: environment names must be unique.",
  api_key_not_found: "Admin API: no API key has this ID.",
  api_key_limit_reached:
    "Admin API: the environment has 100 keys that are neither revoked nor expired. Revoke one first.",
  recording_deleted:
    "The environment's retention has deleted the recording and kept the transcript. The recording can be neither played nor reprocessed.",
  transcript_not_found: "Admin API: the video has no transcript, or its transcript is not ready yet.",
  revision_not_found:
    "The transcript has no revision with this number. The list of revisions has all numbers.",
  bulk_operation_not_found:
    "Admin API: the environment has no bulk operation with this ID, or the download link was already used.",
  poster_not_found:
    "Admin API: the poster has not been made yet, or the recording has no video or only black or blank frames.",
  waveform_not_found: "Admin API: the recording could not be decoded, or has not been decoded yet.",
  transcription_not_failed: "Admin API: only a FAILED transcription can be reprocessed.",
  ai_transcription_off:
    "Admin API: a video is transcribed as a new video only while AI Transcription is on in its environment.",
  video_not_finished:
    "Admin API: a video is transcribed as a new video only after its upload is complete and its transcription has ended.",
  transcription_finished: "Admin API: only a PENDING or PROCESSING transcription can be canceled.",
};

/** Meaning and remedy of each reason of a FAILED transcription, in Markdown. */
export const FAILURE_DESCRIPTIONS: Record<FailureCode, string> = {
  unreadable_media:
    "Not a media file: empty, text, random bytes, or an MP4 file without its index. Upload the original file.",
  unsupported_media:
    "An image, a file that only refers to media, such as a playlist or a session description, or a file with too many silent audio tracks.",
  undecodable_audio: "The audio is encrypted, has an unknown codec, or almost all of it fails to decode.",
  media_too_long: "Longer than `MAX_DURATION_SECONDS`. Raise it and reprocess.",
  language_unsupported:
    "The speech is in a language that the installed engine does not support. The bundled engine supports English.",
  language_undetermined:
    "The recording has at least 3 s of clear speech, but the bundled engine recognized nothing with confidence, probably because the speech is in another language. Install a multilingual [model](models.md), then reprocess.",
  decoder_unavailable:
    "Neither ffmpeg nor the optional package node-av works; `subtext doctor` states why. `apt install ffmpeg`, then reprocess.",
  decoder_crashed: "The decoder crashed or exceeded a limit, or its output is unusable.",
  model_unusable:
    "A model file is missing, damaged or unsupported. Reinstalling Subtext restores the bundled model.",
  model_not_found: "No model has this name, or it is not installed: `subtext models list`.",
  model_download_failed:
    "The model hub does not respond, or refuses the request. Downloaded bytes are kept; `subtext models pull` resumes.",
  model_corrupt: "The model's files do not match the hub's hashes: `subtext models rm`, then `pull`.",
  model_store_failed: "`MODELS_DIR` is full or not writable, or another program changed the files in it.",
  engine_crashed: "The engine's process crashed, sent an invalid message, or could not load the engine.",
  engine_hung: "The engine's process sent no heartbeats or made no progress.",
  insufficient_memory:
    "One speech process does not fit into the memory of the container or machine; the message says how much it needs.",
  engine_out_of_memory:
    "The engine's process exceeded `SPEECH_MEMORY_LIMIT_MB`, or the machine had no more memory for it.",
  engine_refused:
    "The transcription server rejects requests. The message names the server and the problem with the key, the address, the model or a setting. Fix the problem and reprocess.",
  engine_unavailable:
    "No transcription server returned a transcript: all are down, overloaded, or slower than the time limit.",
  engine_answer_invalid: "The response of the transcription server is not a transcription.",
  storage_object_denied:
    "The storage denies access to the recording or the transcript (403, `EACCES`) while it serves other files. Fix the permissions, then reprocess.",
  storage_object_unusable:
    "The storage serves other files but not this one: it is damaged, archived, or its checksum does not match. Restore the file, then reprocess.",
  storage_object_missing:
    "The recording is missing while others are present. Restore the file, or upload the video again.",
  worker_lost:
    "More than ten service processes ended while they worked on this video, and none made progress.",
  canceled: "An operator canceled the transcription. A retry continues from its last checkpoint.",
  internal_error: "An internal error; the log has the details.",
};
