/** Errors of transcriptions and of model downloads. The codes are part of the public API, as failure reasons. */
export const SPEECH_ERRORS = {
  /** Not a media file: empty, text, random bytes, or without its index (`moov`). */
  unreadable_media: { retryable: false },
  /** An image, a file that only refers to media, such as a playlist, or a file with too many silent audio tracks. */
  unsupported_media: { retryable: false },
  /** The audio track is encrypted, has an unknown codec, or hardly any of it decodes. */
  undecodable_audio: { retryable: false },
  /** The recording is longer than the configured limit. */
  media_too_long: { retryable: false },
  /** No installed engine supports the spoken language. */
  language_unsupported: { retryable: false },
  /** Speech was detected, but nothing was recognized with confidence, probably because of the language. */
  language_undetermined: { retryable: false },
  /** Neither ffmpeg nor the optional package node-av can be used. */
  decoder_unavailable: { retryable: true },
  /** The decoder crashed or exceeded a limit, or its output is unusable. */
  decoder_crashed: { retryable: true },
  /** A model file is missing, damaged or unsupported. */
  model_unusable: { retryable: true },
  /** No model has this name, or it is not installed. */
  model_not_found: { retryable: false },
  /** The model hub does not respond, rejects the request, or closes the connection too often. The download can resume. */
  model_download_failed: { retryable: true },
  /** Downloaded content does not match the hub's hash, or files of an installed model have changed or are missing. */
  model_corrupt: { retryable: true },
  /** The models folder is full, not writable or in use, or another program changed the files in it. */
  model_store_failed: { retryable: true },
  /** The speech process or one of its threads crashed, sent an invalid message, or could not load the engine. */
  engine_crashed: { retryable: true },
  /** The speech process sent no heartbeat or made no progress. */
  engine_hung: { retryable: true },
  /** The speech process exceeded its memory limit or could not allocate memory, and was killed. */
  engine_out_of_memory: { retryable: true },
  /** The memory limit or the available memory is too low for a speech process. */
  insufficient_memory: { retryable: false },
  /** The transcription server rejected the request: wrong key, address, model or setting. */
  engine_refused: { retryable: false },
  /** No transcription server returned a transcript before the last retry or the deadline. */
  engine_unavailable: { retryable: true },
  /** The transcription server's response is not a transcription. */
  engine_answer_invalid: { retryable: true },
} as const satisfies Record<string, { retryable: boolean }>;

export type SpeechErrorCode = keyof typeof SPEECH_ERRORS;

export class SpeechError extends Error {
  readonly code: SpeechErrorCode;
  /** Whether an automatic retry with the same file may succeed. */
  readonly retryable: boolean;

  constructor(code: SpeechErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SpeechError";
    this.code = code;
    this.retryable = SPEECH_ERRORS[code].retryable;
  }
}
