import { randomBytes } from "node:crypto";
import type { StoreLocation } from "./store-location.ts";

/** The file in the store that corresponds to the database's `store_record`. */
export const MARK_FILE = "store.json";

export interface StoreMark {
  store: string;
  /** Identity of the database that owns the store and may delete its files. */
  owner: string;
  /** Advances together with the database's generation; see `StoreOwnership`. */
  generation: number;
  /** A random token for this generation. */
  token: string;
  /** When the mark was written, ISO 8601, by the writer's clock. Only for display. */
  writtenAt: string;
}

export function newToken(): string {
  return randomBytes(16).toString("base64url");
}

export function newMark(): StoreMark {
  return {
    store: newToken(),
    owner: newToken(),
    generation: 0,
    token: newToken(),
    writtenAt: new Date().toISOString(),
  };
}

/** Returns null if the mark is missing or cannot be parsed. */
export async function readMark(location: StoreLocation): Promise<StoreMark | null> {
  const text = await location.read(MARK_FILE);
  if (text === null) return null;
  try {
    const mark = JSON.parse(text) as Partial<StoreMark>;
    const isMark =
      typeof mark.store === "string" &&
      typeof mark.owner === "string" &&
      Number.isSafeInteger(mark.generation) &&
      typeof mark.token === "string" &&
      typeof mark.writtenAt === "string";
    return isMark ? (mark as StoreMark) : null;
  } catch {
    return null;
  }
}

export async function writeMark(location: StoreLocation, mark: StoreMark): Promise<void> {
  await location.write(MARK_FILE, `${JSON.stringify(mark)}\n`);
}
