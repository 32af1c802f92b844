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

/** A TypeID: a prefix for the type and a UUIDv7 in base 32. Ids sort by creation time. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}

/** Checks untrusted text before it is used in a query, so that the database never sees invalid characters. */
export function isPlausibleId(text: string): boolean {
  return /^[A-Za-z0-9_]{1,64}$/.test(text);
}
