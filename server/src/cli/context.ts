import type { Command } from "commander";
import { readConfig } from "../config.ts";
import { connect, type InternalClient } from "./internal-client.ts";

export interface Terminal {
  env: Record<string, string | undefined>;
  out(text: string): void;
  err(text: string): void;
  /** How wide the terminal is that `err` writes to; null where it writes to a file or another program. */
  errColumns(): number | null;
}

/**
 * Does a command's work with the service, and prints what came of it.
 * @param render the text for people; with `--json` the value itself is printed
 */
export async function ask<T>(
  { env, out }: Terminal,
  command: Command,
  work: (client: InternalClient) => Promise<T>,
  render: (value: T) => string,
): Promise<T> {
  const client = await connect(readConfig(env));
  let value: T;
  try {
    value = await work(client);
  } finally {
    await client.close();
  }
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  out(json ? `${JSON.stringify(value, null, 2)}\n` : withNewline(render(value)));
  return value;
}

function withNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
