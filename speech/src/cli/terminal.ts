import type { MemoryLimit } from "../processes/memory-limit.ts";

/** What a command line knows of where it runs. */
export interface Terminal {
  env: Record<string, string | undefined>;
  out(text: string): void;
  err(text: string): void;
  /** How wide the terminal is that `err` writes to; null where it writes to a file or another program. */
  errColumns(): number | null;
  /** The memory that the command may use; null if the system does not report it. */
  memoryLimit(): MemoryLimit | null;
}
