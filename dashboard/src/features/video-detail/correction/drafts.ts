import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { del, get, set } from "idb-keyval";

/** Unsaved changes of a transcript. */
export interface Draft {
  /** The saved words that were changed, which a merge needs if others change them too. */
  etag: string;
  base: readonly EditableWord[];
  words: readonly EditableWord[];
  sitting: string;
}

/** Stores drafts, so that unsaved changes survive a reload and an outage. */
export interface DraftStore {
  load(): Promise<Draft | null>;
  save(draft: Draft): Promise<void>;
  remove(): Promise<void>;
}

/** Keeps an operator's draft of a video in the browser. If the browser denies access, a draft lasts until the page is closed. */
export function browserDrafts(operatorId: string, videoId: string): DraftStore {
  const key = `subtext.draft.${operatorId}.${videoId}`;
  return {
    load: async () => (await get<Draft>(key).catch(() => undefined)) ?? null,
    save: (draft) => set(key, draft).catch(() => {}),
    remove: () => del(key).catch(() => {}),
  };
}
