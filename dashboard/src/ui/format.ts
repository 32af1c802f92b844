import { format as texts } from "../messages/en/format.ts";
import { LOCALE } from "../messages/locale.ts";

const BYTES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"].map(
  (unit, power) =>
    new Intl.NumberFormat(LOCALE, {
      style: "unit",
      unit,
      unitDisplay: power === 0 ? "long" : "short",
      maximumFractionDigits: power > 1 ? 1 : 0,
    }),
);

/** Returns e.g. `4.2 MB`. */
export function formatBytes(count: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), BYTES.length - 1);
  return BYTES[power]!.format(count / 1000 ** power);
}

const PERCENT = new Intl.NumberFormat(LOCALE, { style: "percent" });
const PERCENT_DOWN = new Intl.NumberFormat(LOCALE, { style: "percent", roundingMode: "floor" });
const DECIMAL = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Returns e.g. `3.4`. */
export function formatDecimal(value: number): string {
  return DECIMAL.format(value);
}

/**
 * Rounds down, so that `100%` means complete.
 * @param share 0 … 1
 */
export function formatPercent(share: number): string {
  return PERCENT_DOWN.format(share);
}

/** Rounds to the nearest percent. */
export function formatShare(share: number): string {
  return PERCENT.format(share);
}

/** Formats a position or duration, e.g. `0:43` or `1:02:03`. */
export function formatClock(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const pad = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(rest)}` : `${minutes}:${pad(rest)}`;
}

/** Formats an estimate, e.g. `about 3 min`. */
export function formatEstimate(seconds: number): string {
  if (seconds < 5) return texts.aFewSeconds;
  if (seconds < 90) return texts.about(texts.seconds(String(Math.ceil(seconds / 5) * 5)));
  if (seconds < 5400) return texts.about(texts.minutes(String(Math.round(seconds / 60))));
  return texts.about(texts.hours(formatDecimal(seconds / 3600)));
}

/** Returns e.g. `45 s`, `12 min`, `3 h 20 min` or `5 days`. */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return texts.seconds(String(Math.max(0, Math.floor(seconds))));
  if (hours === 0) return texts.minutes(String(minutes));
  if (hours < 48) {
    const rest = minutes % 60 === 0 ? [] : [texts.minutes(String(minutes % 60))];
    return [texts.hours(String(hours)), ...rest].join(" ");
  }
  return texts.days(Math.floor(hours / 24));
}

const LANGUAGES = new Intl.DisplayNames(LOCALE, { type: "language" });

/** @param code as in the API: ISO 639, `zxx` for no speech, `und` for an undetermined language */
export function languageName(code: string): string {
  if (code === "zxx") return texts.noSpeech;
  if (code === "und") return texts.languageNotRecognized;
  try {
    return LANGUAGES.of(code) ?? code;
  } catch {
    return code;
  }
}

const AGO = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** Returns e.g. `5 minutes ago`, or the date if more than a week has passed. */
export function formatAgo(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (seconds < 60) return texts.justNow;
  if (seconds > 7 * 86_400) return formatDate(time);
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds)!;
  return AGO.format(-Math.floor(seconds / size), unit);
}

const UNTIL = new Intl.RelativeTimeFormat(LOCALE);

/** Formats a time in the future, e.g. `in 4 minutes`. */
export function formatUntil(time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1000;
  if (seconds < 5) return texts.now;
  if (seconds < 90) return UNTIL.format(Math.round(seconds), "second");
  if (seconds < 5400) return UNTIL.format(Math.round(seconds / 60), "minute");
  return UNTIL.format(Math.round(seconds / 3600), "hour");
}

const DATE = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium" });

/** Returns e.g. `Nov 21, 2026` in the user's time zone. */
export function formatDate(time: string): string {
  return DATE.format(new Date(time));
}

const TIME_OF_DAY = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });

/** Returns e.g. `12:04 PM` in the user's time zone. */
export function formatTimeOfDay(milliseconds: number): string {
  return TIME_OF_DAY.format(milliseconds);
}

const MINUTE = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });

/** Returns e.g. `Nov 21, 2026, 12:04 PM` in the user's time zone. */
export function formatMinute(time: string): string {
  return MINUTE.format(new Date(time));
}

const TIME = new Intl.DateTimeFormat(LOCALE, { timeStyle: "medium" });

/** Returns e.g. `12:04:11 PM` in the user's time zone. */
export function formatTime(time: string): string {
  return TIME.format(new Date(time));
}

const DATE_TIME = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "medium" });

/** Returns e.g. `Nov 21, 2026, 12:04:11 PM` in the user's time zone. */
export function formatDateTime(time: string): string {
  return DATE_TIME.format(new Date(time));
}
