/** One setting that can not be used as it is. */
export interface SettingFault {
  name: string;
  /** As it may be shown: without what is secret. */
  value: string;
  /** What would do, as a clause without a full stop. */
  expected: string;
}

/** Settings that can not be used, all of them at once; the message names each and tells what would do. */
export class ConfigError extends Error {
  readonly faults: readonly SettingFault[];

  constructor(faults: readonly SettingFault[]) {
    const lines = faults.map(describeFault);
    super(
      lines.length === 1
        ? lines[0]
        : `${lines.length} settings can not be used:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.faults = faults;
  }
}

function describeFault({ name, value, expected }: SettingFault): string {
  return `${name}=${value} can not be used: ${expected}.`;
}
