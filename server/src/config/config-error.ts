import { SETTINGS_BY_STORAGE_ERROR } from "../storage/backends.ts";

export interface SettingFault {
  name: string;
  /** The value, with secrets masked. */
  value: string;
  /** A clause without a period, such as `it must be true or false`. */
  expected: string;
}

/** Reports all invalid settings together. */
export class ConfigError extends Error {
  readonly faults: readonly SettingFault[];

  constructor(faults: readonly SettingFault[]) {
    const lines = faults.map(describeFault);
    super(
      lines.length === 1
        ? lines[0]
        : `${lines.length} settings are invalid:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.faults = faults;
  }
}

function describeFault({ name, value, expected }: SettingFault): string {
  return `${name}=${value} is invalid: ${expected}.`;
}

/** Explains errors that invalid settings cause, keyed by SQLSTATE or the name of the storage's error. */
const SETTINGS_BY_CODE: Record<string, string> = {
  "28P01": "DATABASE_URL: the database rejected the user or password",
  "28000": "DATABASE_URL: the database rejected the user",
  "3D000": "DATABASE_URL: the database does not exist",
  "42501": "DATABASE_URL: the user lacks privileges; it must own the database and its tables",
  ...SETTINGS_BY_STORAGE_ERROR,
};

/** Describes the setting that probably caused the error; returns null if unknown. */
export function settingAtFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, name } = error as Error & { code?: unknown };
  return SETTINGS_BY_CODE[String(code)] ?? SETTINGS_BY_CODE[name] ?? settingAtFault(error.cause);
}
