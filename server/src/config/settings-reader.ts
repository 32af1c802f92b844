import { readFileSync } from "node:fs";
import type { SettingFault } from "./config-error.ts";
import {
  type ChoiceOf,
  type ChoiceSetting,
  type IntegerSetting,
  isSecret,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
} from "./settings.ts";
import type { EnvFile } from "./unknown-settings.ts";

export interface EffectiveSetting {
  name: SettingName;
  /** Masked if it is secret; null if it is not set and has no default. */
  value: string | null;
  /** `default`, `environment`, or the path of the file that contains it. */
  from: string;
}

/** Reads settings one by one. Collects all errors instead of stopping at the first one. */
export class SettingsReader {
  readonly faults: SettingFault[] = [];
  /** Settings whose `_FILE` is unusable or ambiguous. Further errors about them are not reported. */
  readonly #rejected = new Set<SettingName>();
  readonly #given = new Map<SettingName, { value: string; from: string }>();

  constructor(env: Readonly<Record<string, string | undefined>>, file: EnvFile | null) {
    for (const name of SETTING_NAMES) {
      const value = env[name]?.trim() || null;
      const path = isSecret(name) ? env[`${name}_FILE`]?.trim() || null : null;
      if (value !== null && path !== null) {
        this.reportInvalid(name, value, `${name}_FILE is also set; set only one of them`);
        this.#rejected.add(name);
        this.#given.set(name, { value, from: "environment" });
      } else if (path !== null) {
        const secret = this.#readSecret(name, path);
        if (secret !== null) this.#given.set(name, { value: secret, from: path });
      } else if (value !== null) {
        const isFromFile = file !== null && file.values[name]?.trim() === value;
        this.#given.set(name, { value, from: isFromFile ? file.path : "environment" });
      }
    }
  }

  differsFromDefault(name: SettingName): boolean {
    const given = this.#given.get(name);
    return given !== undefined && given.value !== SETTINGS[name].default;
  }

  reportInvalid(name: SettingName, value: string, expected: string): void {
    if (this.#rejected.has(name)) return;
    this.faults.push({ name, value: isSecret(name) ? maskSecret(value) : hidePassword(value), expected });
  }

  /** Returns null if the setting is not set and has no default. */
  text(name: SettingName): string | null {
    return this.#given.get(name)?.value ?? SETTINGS[name].default;
  }

  /** Returns null if the setting is invalid, or if it is not set and has no default. */
  integer(name: IntegerSetting): number | null {
    const value = this.text(name);
    const [min, max] = SETTINGS[name].range;
    if (value === null) return null;
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    this.reportInvalid(name, value, `it must be a whole number from ${min} to ${max}`);
    return null;
  }

  flag(name: SettingName): boolean {
    const value = this.text(name);
    if (value !== null && value !== "true" && value !== "false") {
      this.reportInvalid(name, value, "it must be true or false");
    }
    return value === "true";
  }

  oneOf<Name extends ChoiceSetting>(name: Name): ChoiceOf<Name> {
    const value = this.text(name);
    const choices: readonly ChoiceOf<Name>[] = SETTINGS[name].choices;
    const found = choices.find((each) => each === value);
    if (found === undefined) this.reportInvalid(name, value ?? "", `it must be one of ${choices.join(", ")}`);
    return found ?? choices[0]!;
  }

  url(name: SettingName, protocols: readonly string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
    this.reportInvalid(name, value, `it must be a URL that begins with ${protocols.join(" or ")}`);
    return null;
  }

  /** Splits the value at commas and spaces. */
  list(name: SettingName): string[] {
    return (this.text(name) ?? "").split(/[\s,]+/).filter(Boolean);
  }

  /** @param derivedDefaults for settings whose default depends on other settings */
  effective(derivedDefaults: Partial<Record<SettingName, string | number>>): EffectiveSetting[] {
    return SETTING_NAMES.map((name) => {
      const fallback = SETTINGS[name].default ?? derivedDefaults[name]?.toString() ?? null;
      const { value, from } = this.#given.get(name) ?? { value: fallback, from: "default" };
      if (value === null) return { name, value, from };
      return { name, value: isSecret(name) ? maskSecret(value) : hidePassword(value), from };
    });
  }

  #readSecret(name: SettingName, path: string): string | null {
    try {
      const secret = readFileSync(path, "utf8").trim();
      if (secret !== "") return secret;
      this.#rejectFile(name, path, "the file is empty");
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? "unknown error";
      this.#rejectFile(name, path, `the file cannot be read (${reason})`);
    }
    this.#rejected.add(name);
    this.#given.set(name, { value: "", from: path });
    return null;
  }

  #rejectFile(name: SettingName, path: string, expected: string): void {
    this.faults.push({ name: `${name}_FILE`, value: path, expected });
  }
}

/** Masks a secret. If it is a URL, keeps its host and path, which help with diagnosis. */
function maskSecret(value: string): string {
  if (!/^\w+:\/\//.test(value)) return "…";
  return hidePassword(value).replace(/[?#].*$/s, "");
}

function hidePassword(url: string): string {
  return url.replace(/\/\/.*@/s, "//…@");
}
