import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { get, set, update } from "idb-keyval";

/** Unsaved changes to a transcript. */
export interface Draft {
  id: string;
  /** ETag and words that the changes are based on. A merge needs them if someone else has changed the transcript. */
  etag: string;
  base: readonly EditableWord[];
  words: readonly EditableWord[];
  editSessionId: string;
}

/** Persists drafts so that unsaved changes survive reloads and outages. */
export interface DraftStore {
  load(): Promise<Draft | null>;
  save(draft: Draft): Promise<void>;
  /** Does nothing if another draft was stored since. */
  remove(id: string): Promise<void>;
}

/** Stores an operator's draft for a video in the browser. Storage errors are ignored. */
export function browserDrafts(operatorId: string, videoId: string): DraftStore {
  const key = `subtext.draft.${operatorId}.${videoId}`;
  return {
    load: async () => (await get<Draft>(key).catch(() => undefined)) ?? null,
    save: (draft) => set(key, draft).catch(() => {}),
    remove: (id) =>
      update<Draft | undefined>(key, (draft) => (draft?.id === id ? undefined : draft)).catch(() => {}),
  };
}
