import type { Command } from "commander";
import { type Config, readConfig } from "../config/config.ts";
import type { EnvFile } from "../config/unknown-settings.ts";
import { connect, type InternalClient } from "./internal-client.ts";

export interface Terminal {
  env: Record<string, string | undefined>;
  /** The settings file that is merged into `env`. */
  envFile?: EnvFile | null;
  out(text: string): void;
  err(text: string): void;
  /** Width of the terminal that `err` writes to; null if `err` is not a terminal. */
  errColumns(): number | null;
}

/**
 * @param overrides settings from the command's options
 * @throws ConfigError
 */
export function configOf({ env, envFile = null }: Terminal, overrides: Record<string, string> = {}): Config {
  return readConfig({ ...env, ...overrides }, envFile);
}

/**
 * Runs a command against the service and prints the result.
 * @param render formats the result as text; with `--json`, the value itself is printed
 */
export async function ask<T>(
  terminal: Terminal,
  command: Command,
  work: (client: InternalClient) => Promise<T>,
  render: (value: T) => string,
): Promise<T> {
  const client = await connect(configOf(terminal));
  let value: T;
  try {
    value = await work(client);
  } finally {
    await client.close();
  }
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  terminal.out(json ? `${JSON.stringify(value, null, 2)}\n` : withNewline(render(value)));
  return value;
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
