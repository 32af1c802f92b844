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
 * Sets the action of a command: runs `work` against the service and prints the result.
 * @param work receives the command's arguments and options
 * @param render formats the result as text; with `--json`, the value itself is printed
 */
export function runOnService<Input extends unknown[], T>(
  command: Command,
  terminal: Terminal,
  work: (client: InternalClient, ...input: Input) => Promise<T>,
  render: (value: T) => string,
): void {
  command.action(async (...input) => {
    const value = await withService(terminal, (client) => work(client, ...(input as unknown[] as Input)));
    print(terminal, command, value, render);
  });
}

export async function withService<T>(
  terminal: Terminal,
  work: (client: InternalClient) => Promise<T>,
): Promise<T> {
  const client = await connect(configOf(terminal));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Prints the value as JSON with `--json`; otherwise as text. */
export function print<T>({ out }: Terminal, command: Command, value: T, render: (value: T) => string): void {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  out(json ? `${JSON.stringify(value, null, 2)}\n` : withNewline(render(value)));
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
