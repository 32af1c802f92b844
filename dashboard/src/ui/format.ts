import type { TranscriptionSummaryView } from "@subtext/server/admin/contract/video";

/** Why a transcription failed, and what to do about it. */
const FAILURES: Record<string, { what: string; remedy: string }> = {
  unreadable_media: {
    what: "This isn't a valid media file.",
    remedy: "Upload the original again.",
  },
  unsupported_media: {
    what: "The file only points at media: a picture, a playlist or the like.",
    remedy: "Upload the recording itself.",
  },
  undecodable_audio: {
    what: "The audio is encrypted, damaged or in an unsupported format.",
    remedy: "Re-export as MP4 (AAC) and upload again.",
  },
  media_too_long: {
    what: "The recording is longer than this service allows.",
    remedy: "Raise MAX_DURATION_SECONDS, or upload it in parts.",
  },
  language_unsupported: {
    what: "The spoken language isn't supported by the installed model.",
    remedy: "Install a multilingual one: npx subtext models pull",
  },
  decoder_unavailable: {
    what: "Nothing is installed that decodes media.",
    remedy: "Install ffmpeg on the machine that runs the service.",
  },
  decoder_crashed: {
    what: "The decoder ended early.",
    remedy: "Try again; if it stays, re-encode the file.",
  },
  model_unusable: {
    what: "A file of the speech model is missing or damaged.",
    remedy: "Run npm ci, or pull the model again.",
  },
  model_not_found: {
    what: "The speech model is not installed.",
    remedy: "See npx subtext models list, then pull one.",
  },
  model_download_failed: {
    what: "The speech model could not be downloaded.",
    remedy: "Check the machine's network; what has arrived is kept.",
  },
  model_corrupt: {
    what: "The speech model's files are damaged.",
    remedy: "Remove the model and pull it again.",
  },
  model_store_failed: {
    what: "The models' folder can not be written to.",
    remedy: "Check MODELS_DIR and the space on its disk.",
  },
  engine_crashed: { what: "The speech engine crashed.", remedy: "Try again; the log tells more." },
  engine_hung: { what: "The speech engine stopped responding.", remedy: "Try again; the log tells more." },
  engine_out_of_memory: {
    what: "The speech engine needed too much memory.",
    remedy: "Raise SPEECH_MEMORY_LIMIT_MB, or choose a smaller model.",
  },
  insufficient_memory: {
    what: "There is not enough memory for the speech model.",
    remedy: "Raise the memory limit of the container, or choose a smaller model.",
  },
  engine_refused: {
    what: "The transcription server refuses the request.",
    remedy: "Check its address, key and model in the settings.",
  },
  engine_unavailable: {
    what: "No transcription server answers.",
    remedy: "Check that it runs and can be reached.",
  },
  engine_answer_invalid: {
    what: "The transcription server's answer is no transcription.",
    remedy: "Check that it speaks OpenAI's interface.",
  },
  storage_full: { what: "The disk is full.", remedy: "Make space, then try again." },
  storage_unavailable: { what: "The storage does not answer.", remedy: "Check the disk of the service." },
  storage_object_denied: {
    what: "The storage denies access to the uploaded file.",
    remedy: "Fix the permissions of the file, then reprocess.",
  },
  storage_object_unusable: {
    what: "The storage cannot serve the uploaded file.",
    remedy: "Check the disk or the bucket, or upload the file again.",
  },
  storage_object_missing: { what: "The uploaded file is gone.", remedy: "Upload it again." },
  worker_lost: {
    what: "The service ended again and again while it worked on this video.",
    remedy: "Look at the service's log.",
  },
};

export function failureInWords({ code, message }: NonNullable<TranscriptionSummaryView["failure"]>): {
  what: string;
  remedy: string;
} {
  return FAILURES[code] ?? { what: message, remedy: "The service's log tells more." };
}

const SKIPS: Record<string, string> = {
  no_audio_track: "It has no audio track.",
  empty_audio_track: "Its audio track is empty.",
  silent_audio_track: "Its audio is pure silence; was the microphone muted?",
};

export const WAITS_FOR_MODEL =
  "The spoken language isn't supported by the installed model. A multilingual one is being downloaded; transcription resumes when it is ready.";

export function skipInWords(reason: string | null): string {
  return (reason !== null && SKIPS[reason]) || "There is nothing to transcribe in it.";
}

/** Why a transcription has no words; null if it has some, or has not completed. */
export function emptyTranscript(
  transcription: Pick<TranscriptionSummaryView, "wordCount" | "language"> | null,
): string | null {
  if (transcription?.wordCount !== 0) return null;
  return transcription.language === "und" ? "Language not recognized – no transcript" : "No speech detected";
}

/** `Next in queue`, `9th in queue`. @param place null if it is not known */
export function placeInQueue(place: number | null): string {
  if (place === null) return "In queue";
  return place === 1 ? "Next in queue" : `${ordinal(place)} in queue`;
}

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" });
const ORDINAL_SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };

function ordinal(count: number): string {
  return `${count.toLocaleString("en")}${ORDINAL_SUFFIXES[ORDINALS.select(count)] ?? "th"}`;
}

export function bytes(count: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  return new Intl.NumberFormat("en", {
    style: "unit",
    unit: units[power]!,
    unitDisplay: power === 0 ? "long" : "short",
    maximumFractionDigits: power > 1 ? 1 : 0,
  }).format(count / 1000 ** power);
}

/** Of a recording: `0:43`, `1:02:03`. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Of a wait: `about 3 min`. */
export function roughly(seconds: number): string {
  if (seconds < 5) return "a few seconds";
  if (seconds < 90) return `about ${Math.ceil(seconds / 5) * 5} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  return `about ${(seconds / 3600).toFixed(1)} h`;
}

/** Of something that lasts: `45 s`, `12 min`, `3 h 20 min`, `5 days`. */
export function lasting(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (hours === 0) return `${minutes} min`;
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

export function language(code: string): string {
  if (code === "zxx") return "No speech";
  if (code === "und") return "Language not recognized";
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** `5 minutes ago`; past a week, the date. */
export function ago(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (seconds < 60) return "just now";
  if (seconds > 7 * 86_400)
    return new Intl.DateTimeFormat("en", { dateStyle: "medium" }).format(new Date(time));
  const [unit, size] = STEPS.find(([, each]) => seconds >= each)!;
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.floor(seconds / size), unit);
}
