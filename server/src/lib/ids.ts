import { typeid } from "typeid-js";

export type IdPrefix =
  | "video"
  | "transcription"
  | "env"
  | "event"
  | "endpoint"
  | "key"
  | "delivery"
  | "operator"
  | "invitation"
  | "session"
  | "audit";

/** A TypeID: a prefix that tells the kind, and a UUIDv7 in base 32, so that ids sort by their making. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** Whether a text from outside can be an id at all; keeps odd bytes away from the database. */
export function isPlausibleId(text: string): boolean {
  return /^[A-Za-z0-9_]{1,64}$/.test(text);
}
