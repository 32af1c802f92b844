import type { SettingFault } from "./config-error.ts";
import { isSecret, isSettingName, SETTING_NAMES, type SettingName } from "./settings.ts";

export interface EnvFile {
  path: string;
  values: Readonly<Record<string, string | undefined>>;
}

/** Variables of other programs, such as Node.js, AWS, libpq and Compose, which the file may contain too. */
const FOREIGN_NAMES =
  /^(AWS|NODE|OTEL|PG|UV|LC|LD|COMPOSE|DOCKER|POSTGRES|npm)_?[A-Z0-9_]*$|^npm_|^((HTTPS?|NO|ALL)_PROXY|https?_proxy|no_proxy|SSL_CERT_(FILE|DIR)|TZ|LANG|LANGUAGE|PATH|HOME|TMPDIR|USER|DEBUG|FORCE_COLOR|NO_COLOR)$/;

/** Kubernetes sets such variables for a Service named `subtext`: `SUBTEXT_PORT=tcp://10.0.0.1:8080`. */
const SERVICE_LINK = /^(tcp|udp|sctp):\/\//;

/**
 * Minimum length of a setting's name for each number of typos. Short names resemble those of other programs: HOST,
 * HOME.
 */
const MIN_LENGTH_FOR_ONE_TYPO = 8;
const MIN_LENGTH_FOR_TWO_TYPOS = 12;

/**
 * Finds misspelled settings. The environment contains many variables of other programs, so an environment variable is
 * reported only if its name resembles a setting that is not set. In the settings file, every unknown name is reported.
 */
export function findUnknown(
  env: Readonly<Record<string, string | undefined>>,
  file: EnvFile | null,
): SettingFault[] {
  const faults: SettingFault[] = [];
  const names = new Set([...Object.keys(env), ...Object.keys(file?.values ?? {})]);
  for (const name of names) {
    const value = env[name]?.trim() || null;
    if (value === null || isKnown(name) || SERVICE_LINK.test(value)) continue;
    const intended = findIntended(name, env);
    const mustBeSetting = file !== null && Object.hasOwn(file.values, name) && !FOREIGN_NAMES.test(name);
    if (intended !== null) {
      faults.push({
        name,
        value: "…",
        expected: `there is no such setting; the most similar one is ${intended}`,
      });
    } else if (mustBeSetting) {
      const expected = `there is no such setting, and ${file.path} may contain only settings of Subtext`;
      faults.push({ name, value: "…", expected });
    }
  }
  return faults;
}

function isKnown(name: string): boolean {
  if (isSettingName(name)) return true;
  const base = name.replace(/_FILE$/, "");
  return base !== name && isSettingName(base) && isSecret(base);
}

/** Returns the setting that was probably intended; null if none is similar. */
function findIntended(name: string, env: Readonly<Record<string, string | undefined>>): string | null {
  const unprefixed = name.replace(/^SUBTEXT_/i, "");
  if (unprefixed !== name) {
    if (isKnown(unprefixed.toUpperCase())) return unprefixed.toUpperCase();
    return nearest(unprefixed)?.name ?? null;
  }
  const match = nearest(name);
  // If the setting itself is also set, the similar name is probably a variable of another program.
  return match !== null && !env[match.setting]?.trim() ? match.name : null;
}

function nearest(name: string): { setting: SettingName; name: string } | null {
  const normalized = name.toUpperCase().replaceAll("-", "_");
  const names = SETTING_NAMES.flatMap((setting) => [
    { setting, name: setting as string },
    ...(isSecret(setting) ? [{ setting, name: `${setting}_FILE` }] : []),
  ]);
  const found = names
    .map((each) => ({ ...each, typos: distance(normalized, each.name) }))
    .filter(({ name: { length }, typos }) => typos <= maxTypos(length))
    .sort((a, b) => a.typos - b.typos)[0];
  return found ?? null;
}

function maxTypos(length: number): number {
  if (length >= MIN_LENGTH_FOR_TWO_TYPOS) return 2;
  return length >= MIN_LENGTH_FOR_ONE_TYPO ? 1 : Number.NEGATIVE_INFINITY;
}

/** Returns the edit distance including transpositions (optimal string alignment). */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      }
      rows[i]![j] = least;
    }
  }
  return rows[a.length]![b.length]!;
}
