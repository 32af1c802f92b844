/** Describes a setting. `docs/configuration.md` and `.env.example` are generated from these descriptions. */
export interface SettingFacts {
  /** Sentences in Markdown; links start in `docs`. */
  description: string;
  /** The kind of value, such as a unit; not needed with `choices`. */
  value?: string;
  /** The only valid values. */
  choices?: readonly [string, ...string[]];
  /** The smallest and the largest valid integer. */
  range?: readonly [number, number];
  /** A valid value other than the default. */
  example: string;
  /** Null if there is no default, or if it is derived from other settings. */
  default: string | null;
  /** How the default is derived, in Markdown. */
  derivedDefault?: string;
  /** Secrets are masked for display and may be read from the file that `<NAME>_FILE` names. */
  secret?: true;
}

/** Reads the settings of one part of the service. */
export interface SettingsSource {
  differsFromDefault(name: string): boolean;
  /** Returns null if the setting is not set and has no default. */
  text(name: string): string | null;
  flag(name: string): boolean;
  url(name: string, protocols: readonly string[]): string | null;
  /**
   * Reports an invalid value. The whole configuration is then rejected, so the caller may return any value.
   * @param expected a clause without a period, such as `it must be true or false`
   */
  reportInvalid(name: string, value: string, expected: string): void;
}
