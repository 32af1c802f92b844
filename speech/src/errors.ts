/**
 * Why speech could not be had from a recording. The codes are part of the public contract: the service
 * stores them as the reason of a FAILED transcription.
 */
export const SPEECH_ERRORS = {
  /** Not a media file at all: empty, text, random bytes, or without its index (`moov`). */
  unreadable_media: { retryable: false },
  /** A picture, a playlist, a session description: something that only points at media. */
  unsupported_media: { retryable: false },
  /** There is an audio track, but it is encrypted, of an unknown codec, or hardly any of it decodes. */
  undecodable_audio: { retryable: false },
  /** Longer than the configured limit. */
  media_too_long: { retryable: false },
  /** People speak, but not in a language that the installed engines know. */
  language_unsupported: { retryable: false },
  /** Neither a system ffmpeg nor the optional package node-av is there. */
  decoder_unavailable: { retryable: true },
  /** The decoder was killed or ran past its wall-clock limit. */
  decoder_crashed: { retryable: true },
  /** A model file is missing, damaged or of another shape than its engine expects. */
  model_unusable: { retryable: true },
  /** No model has this name, or none is installed under it. */
  model_not_found: { retryable: false },
  /** The hub does not answer, refuses, or breaks off too often; what has arrived is kept and gone on from. */
  model_download_failed: { retryable: true },
  /** What was downloaded is not what the hub says it is, or an installed model's files have changed or gone. */
  model_corrupt: { retryable: true },
  /** The models' folder can not be written to, is full, or is in use by another download. */
  model_store_failed: { retryable: true },
  /** The engine's process ended on its own. */
  engine_crashed: { retryable: true },
  /** The engine's process showed no sign of life within its limit. */
  engine_hung: { retryable: true },
  /** The engine's process grew past its memory limit and was ended. */
  engine_out_of_memory: { retryable: true },
  /** One speech process does not fit into the memory that the service may use. */
  insufficient_memory: { retryable: false },
  /** The transcription server refuses what is asked of it: a wrong key, address, model or setting. */
  engine_refused: { retryable: false },
  /** No transcription server answered within the tries and the time that a request has. */
  engine_unavailable: { retryable: true },
  /** The transcription server's answer is no transcription. */
  engine_answer_invalid: { retryable: true },
} as const satisfies Record<string, { retryable: boolean }>;

export type SpeechErrorCode = keyof typeof SPEECH_ERRORS;

/** Thrown by everything in this package; `retryable` says whether the same file may succeed later. */
export class SpeechError extends Error {
  readonly code: SpeechErrorCode;
  readonly retryable: boolean;

  constructor(code: SpeechErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SpeechError";
    this.code = code;
    this.retryable = SPEECH_ERRORS[code].retryable;
  }
}
