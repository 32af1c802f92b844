import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { createStore, del, get, promisifyRequest, update } from "idb-keyval";
import { compareWords, isSameWord } from "./compare-words.ts";

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
  /** Also removes an earlier draft, if this one did not fit into the storage. Keeps a later one. */
  remove(id: string): Promise<void>;
}

/** The words `from` … `to - 1` of the base are replaced. */
interface Replacement {
  from: number;
  to: number;
  words: readonly EditableWord[];
}

const STORE = createStore("keyval-store", "keyval");

/** A draft without its base, because copying tens of thousands of words each second would delay typing. */
interface StoredDraft extends Pick<Draft, "id" | "etag" | "editSessionId"> {
  baseKey: string;
  replacements: readonly Replacement[];
}

/** Stores an operator's draft for a video in the browser. Storage errors are ignored. */
export function browserDrafts(operatorId: string, videoId: string): DraftStore {
  const key = draftKey(operatorId, videoId);
  /** The base that is stored for the current draft. */
  let stored: { baseKey: string; base: readonly EditableWord[] } | null = null;
  /** IDs of the drafts since the last removal, in order. Only one is stored, and not the last one if it did not fit. */
  let ids: string[] = [];
  return {
    async load() {
      const draft = await readDraft(key);
      const base = draft && (await get<EditableWord[]>(draft.baseKey, STORE).catch(() => undefined));
      if (!draft || !base) return null;
      stored = { baseKey: draft.baseKey, base };
      const { id, etag, editSessionId, replacements } = draft;
      ids = [id];
      return { id, etag, base, words: replaceWords(base, replacements), editSessionId };
    },
    async save({ id, etag, base, words, editSessionId }) {
      if (ids.at(-1) !== id) ids.push(id);
      const previous = stored;
      const isNewBase = previous?.base !== base;
      const current = previous && !isNewBase ? previous : { baseKey: `${key}.${id}`, base };
      stored = current;
      const { baseKey } = current;
      const draft: StoredDraft = {
        id,
        etag,
        editSessionId,
        baseKey,
        replacements: findReplacements(base, words),
      };
      const entries: [string, unknown][] = [[key, draft]];
      if (isNewBase) entries.push([baseKey, base]);
      try {
        await storeEntries(entries);
        if (isNewBase && previous && previous.baseKey !== baseKey) await del(previous.baseKey, STORE);
      } catch {
        // The next draft stores its base again, and then removes the one that is stored now.
        if (isNewBase && stored === current) stored = previous;
      }
    },
    async remove(id) {
      stored = null;
      const obsolete = [...ids.splice(0, ids.indexOf(id) + 1), id];
      await removeDraft(key, obsolete).catch(() => {});
    },
  };
}

/** Returns the ID of an operator's draft for a video; null if there is none. */
export async function findDraft(operatorId: string, videoId: string): Promise<string | null> {
  return (await readDraft(draftKey(operatorId, videoId)))?.id ?? null;
}

function draftKey(operatorId: string, videoId: string): string {
  return `subtext.draft.${operatorId}.${videoId}`;
}

async function readDraft(key: string): Promise<StoredDraft | undefined> {
  return await get<StoredDraft>(key, STORE).catch(() => undefined);
}

async function removeDraft(key: string, ids: readonly string[]): Promise<void> {
  let baseKey: string | null = null;
  const remove = (draft: StoredDraft | undefined) => {
    if (!draft || !ids.includes(draft.id)) return draft;
    baseKey = draft.baseKey;
    return undefined;
  };
  await update<StoredDraft | undefined>(key, remove, STORE);
  if (baseKey !== null) await del(baseKey, STORE);
}

/** Commits at once: a page that is being closed aborts transactions that would commit later. */
async function storeEntries(entries: readonly [string, unknown][]): Promise<void> {
  await STORE("readwrite", (store) => {
    for (const [key, value] of entries) store.put(value, key);
    store.transaction.commit();
    return promisifyRequest(store.transaction);
  });
}

export function findReplacements(
  base: readonly EditableWord[],
  words: readonly EditableWord[],
): Replacement[] {
  return compareWords(base, words, isSameWord).map(({ before: { from, to }, after }) => ({
    from,
    to,
    words: words.slice(after.from, after.to),
  }));
}

export function replaceWords(
  base: readonly EditableWord[],
  replacements: readonly Replacement[],
): EditableWord[] {
  const parts: (readonly EditableWord[])[] = [];
  let next = 0;
  for (const { from, to, words } of replacements) {
    parts.push(base.slice(next, from), words);
    next = to;
  }
  return [...parts, base.slice(next)].flat();
}
