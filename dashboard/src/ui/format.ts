/** Returns e.g. `4.2 MB`. */
export function formatBytes(count: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const power = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), units.length - 1);
  return new Intl.NumberFormat("en", {
    style: "unit",
    unit: units[power]!,
    unitDisplay: power === 0 ? "long" : "short",
    maximumFractionDigits: power > 1 ? 1 : 0,
  }).format(count / 1000 ** power);
}

/** Returns e.g. `1 video` or `1,200 videos`. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

/**
 * Rounds down, so that `100%` means complete.
 * @param share 0 … 1
 */
export function formatPercent(share: number): string {
  return `${Math.floor(share * 100)}%`;
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
  if (seconds < 5) return "a few seconds";
  if (seconds < 90) return `about ${Math.ceil(seconds / 5) * 5} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  return `about ${(seconds / 3600).toFixed(1)} h`;
}

/** Returns e.g. `45 s`, `12 min`, `3 h 20 min` or `5 days`. */
export function formatDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (hours === 0) return `${minutes} min`;
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** @param code as in the API: ISO 639, `zxx` for no speech, `und` for an undetermined language */
export function languageName(code: string): string {
  if (code === "zxx") return "No speech";
  if (code === "und") return "Language not recognized";
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** Returns e.g. `5 minutes ago`, or the date if more than a week has passed. */
export function formatAgo(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1000;
  if (seconds < 60) return "just now";
  if (seconds > 7 * 86_400)
    return new Intl.DateTimeFormat("en", { dateStyle: "medium" }).format(new Date(time));
  const [unit, size] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds)!;
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.floor(seconds / size), unit);
}

const DATE_TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Returns e.g. `21 Nov 2026, 12:04:11` in the user's time zone. */
export function formatDateTime(time: string): string {
  return DATE_TIME.format(new Date(time));
}
