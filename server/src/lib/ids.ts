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
  | "audit"
  | "operation";

/** Returns a TypeID: a prefix for the type and a UUIDv7 in base 32. Ids sort by creation time. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** Checks the format of an untrusted id, so that queries never contain characters that the database rejects. */
export function isPlausibleId(text: string): boolean {
  return /^[A-Za-z0-9_]{1,64}$/.test(text);
}
