import { formatNumber } from "../numbers.ts";
import { translated } from "../translated.ts";

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };

/** States of videos, and why a video has no transcript. */
export const videoState = translated("videoState", {
  states: {
    uploading: "Uploading",
    pending: "Pending",
    processing: "Processing",
    completed: "Completed",
    failed: "Failed",
    skipped: "Skipped",
    untranscribed: "Not transcribed",
  },
  failures: {
    unreadable_media: {
      problem: "This isn't a valid media file.",
      remedy: "Upload the original again.",
    },
    unsupported_media: {
      problem: "This is an image, a playlist or a similar file without a recording.",
      remedy: "Upload the recording itself.",
    },
    undecodable_audio: {
      problem: "The audio is encrypted, damaged or in an unsupported format.",
      remedy: "Re-export as MP4 (AAC) and upload again.",
    },
    media_too_long: {
      problem: "The recording is longer than the limit.",
      remedy: "Raise MAX_DURATION_SECONDS, or upload it in parts.",
    },
    language_unsupported: {
      problem: "The spoken language isn't supported by the installed model.",
      remedy: "Install a multilingual model: {command} models pull",
    },
    language_undetermined: {
      problem: "The installed model recognized nothing in the speech. It may be in another language.",
      remedy: "Install a multilingual model, then try again: {command} models pull",
    },
    decoder_unavailable: {
      problem: "No working media decoder is installed.",
      remedy: "Install ffmpeg on the server.",
    },
    decoder_crashed: {
      problem: "The decoder crashed.",
      remedy: "Try again. If it fails again, re-encode the file.",
    },
    model_unusable: {
      problem: "A file of the speech model is missing or damaged.",
      remedy: "Reinstall Subtext, or pull the model again.",
    },
    model_not_found: {
      problem: "The speech model is not installed.",
      remedy: "Run {command} models list, then pull one.",
    },
    model_download_failed: {
      problem: "The speech model could not be downloaded.",
      remedy: "Check the server's network connection. The download resumes where it stopped.",
    },
    model_corrupt: {
      problem: "The speech model's files are damaged.",
      remedy: "Remove the model and pull it again.",
    },
    model_store_failed: {
      problem: "The model folder is not writable.",
      remedy: "Check MODELS_DIR and the free space on its disk.",
    },
    engine_crashed: {
      problem: "The speech engine crashed.",
      remedy: "Try again. See the server log for details.",
    },
    engine_hung: {
      problem: "The speech engine stopped responding.",
      remedy: "Try again. See the server log for details.",
    },
    engine_out_of_memory: {
      problem: "The speech engine ran out of memory.",
      remedy: "Raise SPEECH_MEMORY_LIMIT_MB, or choose a smaller model.",
    },
    insufficient_memory: {
      problem: "There is not enough memory for the speech model.",
      remedy: "Raise the container's memory limit, or choose a smaller model.",
    },
    engine_refused: {
      problem: "The transcription server rejected the request.",
      remedy: "Check its URL, key and model in the settings.",
    },
    engine_unavailable: {
      problem: "The transcription server is unreachable.",
      remedy: "Check that it is running and reachable.",
    },
    engine_answer_invalid: {
      problem: "The transcription server's response is invalid.",
      remedy: "Check that it implements OpenAI's transcription API.",
    },
    storage_full: { problem: "The disk is full.", remedy: "Free up space, then try again." },
    storage_unavailable: {
      problem: "Storage is unavailable.",
      remedy: "Check the server's disk or bucket.",
    },
    storage_object_denied: {
      problem: "Access to the uploaded file was denied.",
      remedy: "Fix the file's permissions, then retry.",
    },
    storage_object_unusable: {
      problem: "The uploaded file can't be read from storage.",
      remedy: "Check the disk or bucket, or upload the file again.",
    },
    storage_object_missing: { problem: "The uploaded file is missing.", remedy: "Upload it again." },
    worker_lost: {
      problem: "Workers crashed repeatedly while processing this video.",
      remedy: "See the server log for details.",
    },
    canceled: { problem: "Transcription canceled.", remedy: "A retry continues where it stopped." },
  },
  seeLog: "See the server log for details.",
  skipReasons: {
    no_audio_track: "No audio track.",
    empty_audio_track: "The audio track is empty.",
    silent_audio_track: "The audio is silent. Was the microphone muted?",
  },
  nothingToTranscribe: "Nothing to transcribe.",
  transcriptionWasOff: "AI Transcription was off at upload.",
  waitingForModel:
    "The spoken language isn't supported by the installed model. A multilingual one is being downloaded; transcription resumes when it is ready.",
  languageNotRecognized: "Language not recognized – no transcript",
  noSpeech: "No speech detected",
  inQueue: "In queue",
  nextInQueue: "Next in queue",
  placeInQueue: (place: number) =>
    `${formatNumber(place)}${SUFFIXES[ORDINALS.select(place)] ?? "th"} in queue`,
  startsIn: (estimate: string) => `Starts in ${estimate}`,
  placeAndStart: (place: string, estimate: string) => `${place} · starts in ${estimate}`,
  uploadOf: (name: string) => `Upload of ${name}`,
  transcriptionOf: (name: string) => `Transcription of ${name}`,
  partOf: (part: string, whole: string) => `${part} of ${whole}`,
  left: (duration: string) => `${duration} left`,
});
