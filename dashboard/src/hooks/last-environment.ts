import { readLocal, writeLocal } from "./local-storage.ts";

const KEY = "subtext.environment";

export function lastEnvironment(): string | null {
  return readLocal(KEY);
}

export function rememberEnvironment(id: string): void {
  writeLocal(KEY, id);
}
