import type { MemoryLimit } from "../processes/memory-limit.ts";

/** The environment of a command. */
export interface Terminal {
  env: Record<string, string | undefined>;
  out(text: string): void;
  err(text: string): void;
  /** Width of the terminal that `err` writes to; null if it writes to a file or another program. */
  errColumns(): number | null;
  /** The memory that the command may use; null if the system does not report it. */
  memoryLimit(): MemoryLimit | null;
}
