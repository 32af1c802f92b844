import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { createStore, get, getMany, promisifyRequest, type UseStore } from "idb-keyval";
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
  /** @param isClosing whether the page is being closed, so that this may be its last draft */
  save(draft: Draft, options?: { isClosing?: boolean }): Promise<void>;
  /** Also removes an earlier draft, if this one did not fit into the storage. Keeps a later one. */
  remove(id: string): Promise<void>;
}

/** The words `from` … `to - 1` of the base are replaced. */
interface Replacement {
  from: number;
  to: number;
  words: readonly EditableWord[];
}

/** A draft without its base, because copying tens of thousands of words each second would delay typing. */
interface StoredDraft extends Pick<Draft, "id" | "etag" | "editSessionId"> {
  baseId: string;
  replacements: readonly Replacement[];
}

/**
 * Stores an operator's draft for a video in the browser. Storage errors are ignored. Tabs share the draft: each replaces
 * the draft and the base of the other.
 */
export function browserDrafts(operatorId: string, videoId: string): DraftStore {
  const store = createStore("keyval-store", "keyval");
  const key = draftKey(operatorId, videoId);
  /** The base that this tab loaded or stored last. Another tab may have replaced it since. */
  let stored: { id: string; words: readonly EditableWord[] } | null = null;
  /** IDs of the drafts since the last removal, in order. Only one is stored, and not the last one if it did not fit. */
  let ids: string[] = [];
  return {
    async load() {
      const entries = await getMany([key, baseIdKey(key), baseKey(key)], store).catch(() => []);
      const [draft, baseId, base] = entries as [StoredDraft?, string?, EditableWord[]?];
      if (!draft || !base || draft.baseId !== baseId) return null;
      stored = { id: baseId, words: base };
      const { id, etag, editSessionId, replacements } = draft;
      ids = [id];
      return { id, etag, base, words: replaceWords(base, replacements), editSessionId };
    },
    async save({ id, etag, base, words, editSessionId }, { isClosing = false } = {}) {
      if (ids.at(-1) !== id) ids.push(id);
      const isNewBase = stored?.words !== base;
      const current = stored && !isNewBase ? stored : { id, words: base };
      stored = current;
      const replacements = findReplacements(base, words);
      const draft: StoredDraft = { id, etag, editSessionId, baseId: current.id, replacements };
      try {
        // A page that is being closed cannot wait to learn whether its base is still stored.
        if (!isNewBase && !isClosing) {
          await storeDraft(store, key, draft);
          if ((await get<string>(baseIdKey(key), store)) === current.id) return;
        }
        await storeDraft(store, key, draft, base);
      } catch {
        // The next draft stores its base again.
        if (isNewBase && stored === current) stored = null;
      }
    },
    async remove(id) {
      stored = null;
      const obsolete = [...ids.splice(0, ids.indexOf(id) + 1), id];
      await removeDraft(store, key, obsolete).catch(() => {});
    },
  };
}

/** Returns the ID of an operator's draft for a video; null if there is none. */
export async function findDraft(operatorId: string, videoId: string): Promise<string | null> {
  const draft = await get<StoredDraft>(draftKey(operatorId, videoId)).catch(() => undefined);
  return draft?.id ?? null;
}

function draftKey(operatorId: string, videoId: string): string {
  return `subtext.draft.${operatorId}.${videoId}`;
}

function baseKey(key: string): string {
  return `${key}.base`;
}

function baseIdKey(key: string): string {
  return `${key}.base-id`;
}

/**
 * Commits at once: a page that is being closed aborts transactions that would commit later.
 * @param base omitted if it is stored
 */
async function storeDraft(
  store: UseStore,
  key: string,
  draft: StoredDraft,
  base?: readonly EditableWord[],
): Promise<void> {
  await store("readwrite", (entries) => {
    if (base) {
      entries.put(base, baseKey(key));
      entries.put(draft.baseId, baseIdKey(key));
    }
    entries.put(draft, key);
    entries.transaction.commit();
    return promisifyRequest(entries.transaction);
  });
}

async function removeDraft(store: UseStore, key: string, ids: readonly string[]): Promise<void> {
  await store("readwrite", async (entries) => {
    const draft = await promisifyRequest<StoredDraft | undefined>(entries.get(key));
    if (!draft || !ids.includes(draft.id)) return;
    for (const each of [key, baseIdKey(key), baseKey(key)]) entries.delete(each);
    await promisifyRequest(entries.transaction);
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
