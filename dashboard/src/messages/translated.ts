import type { Feature } from "./de/catalog.ts";
import { IS_GERMAN } from "./locale.ts";

// Awaited here, so that every module sees the reader's language from its first line. `vite.config.ts` keeps the modules
// that both languages import out of the waiting chunk.
const german = IS_GERMAN ? (await import("./de/catalog.ts")).GERMAN : null;

/** Returns the messages of a feature in the reader's language. German has the same type as English. */
export function translated<Messages extends object>(feature: Feature, english: Messages): Messages {
  return german === null ? english : (german[feature] as Messages);
}
