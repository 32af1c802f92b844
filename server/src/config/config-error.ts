/** One invalid setting. */
export interface SettingFault {
  name: string;
  /** The value as it may be shown, without secrets. */
  value: string;
  /** The expected value, as a clause without a full stop. */
  expected: string;
}

/** All invalid settings at once. The message names each and describes the expected value. */
export class ConfigError extends Error {
  readonly faults: readonly SettingFault[];

  constructor(faults: readonly SettingFault[]) {
    const lines = faults.map(describeFault);
    super(
      lines.length === 1
        ? lines[0]
        : `${lines.length} settings cannot be used:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.faults = faults;
  }
}

function describeFault({ name, value, expected }: SettingFault): string {
  return `${name}=${value} cannot be used: ${expected}.`;
}
