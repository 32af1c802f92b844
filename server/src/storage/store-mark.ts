import { randomBytes } from "node:crypto";
import type { StorePlace } from "./store-place.ts";

/** Beside the files, the counterpart of the database's `store_record`. */
export const MARK_FILE = "store.json";

export interface StoreMark {
  /** Identity of the store. */
  store: string;
  /** Identity of the database that may delete files here. */
  owner: string;
  /** Counts up with the database's own; see `StoreOwnership`. */
  generation: number;
  /** Random, of the generation. */
  token: string;
  /** When it was written, ISO 8601, by the writer's clock; for people. */
  writtenAt: string;
}

export function newToken(): string {
  return randomBytes(16).toString("base64url");
}

/** Of a store that no database has had yet. */
export function newMark(): StoreMark {
  return {
    store: newToken(),
    owner: newToken(),
    generation: 0,
    token: newToken(),
    writtenAt: new Date().toISOString(),
  };
}

/** Null if there is none, or none that can be read. */
export async function readMark(place: StorePlace): Promise<StoreMark | null> {
  const text = await place.read(MARK_FILE);
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

export async function writeMark(place: StorePlace, mark: StoreMark): Promise<void> {
  await place.write(MARK_FILE, `${JSON.stringify(mark)}\n`);
}
