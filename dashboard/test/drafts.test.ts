import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { beforeEach, expect, test, vi } from "vitest";
import { browserDrafts } from "../src/features/video-detail/correction/drafts.ts";

const stored = new Map<string, unknown>();
let isFull = false;
vi.mock("idb-keyval", () => ({
  createStore: () => async (_mode: string, write: (store: object) => Promise<void>) => {
    const entries: [string, unknown][] = [];
    await write({
      put: (value: unknown, key: string) => entries.push([key, structuredClone(value)]),
      transaction: {
        commit() {
          if (isFull) throw new DOMException("full", "QuotaExceededError");
          for (const [key, value] of entries) stored.set(key, value);
        },
      },
    });
  },
  promisifyRequest: async () => {},
  get: async (key: string) => structuredClone(stored.get(key)),
  del: async (key: string) => void stored.delete(key),
  update: async (key: string, change: (value: unknown) => unknown) => {
    const value = change(stored.get(key));
    if (value === undefined) stored.delete(key);
    else stored.set(key, value);
  },
}));

const words = (...texts: string[]): EditableWord[] =>
  texts.map((word, index) => ({
    word,
    start: index,
    end: index + 1,
    confidence: null,
    speaker: null,
    channel: null,
  }));
const base = words("one", "two", "three");
const draft = { id: "a", etag: '"1"', base, editSessionId: "s" };

beforeEach(() => {
  stored.clear();
  isFull = false;
});

test("a draft is restored after an earlier one of the same words was removed", async () => {
  const drafts = browserDrafts("operator", "video");
  await drafts.save({ ...draft, words: words("one", "2", "three") });
  await drafts.remove("a");
  expect(stored.size).toBe(0);
  await drafts.save({ ...draft, words: words("one", "two", "3") });
  const restored = await browserDrafts("operator", "video").load();
  expect(restored?.words.map(({ word }) => word)).toEqual(["one", "two", "3"]);
});

test("a draft is restored although the storage was full at first", async () => {
  const drafts = browserDrafts("operator", "video");
  isFull = true;
  await drafts.save({ ...draft, words: words("one", "2", "three") });
  isFull = false;
  await drafts.save({ ...draft, words: words("1", "2", "three") });
  const restored = await browserDrafts("operator", "video").load();
  expect(restored?.words.map(({ word }) => word)).toEqual(["1", "2", "three"]);
});

test("the draft that is stored is removed with a later one that did not fit, but not with an earlier one", async () => {
  const drafts = browserDrafts("operator", "video");
  await drafts.save({ ...draft, id: "a", words: words("one", "2", "three") });
  isFull = true;
  await drafts.save({ ...draft, id: "b", words: words("1", "2", "three") });
  isFull = false;
  await drafts.remove("b");
  expect([...stored.keys()]).toEqual([]);
  await drafts.save({ ...draft, id: "c", words: words("one", "2", "three") });
  await drafts.save({ ...draft, id: "d", words: words("1", "2", "three") });
  await drafts.remove("c");
  expect((await browserDrafts("operator", "video").load())?.id).toBe("d");
});

test("a restored draft leaves nothing behind when other words become its base", async () => {
  await browserDrafts("operator", "video").save({ ...draft, words: words("1", "two", "three") });
  const drafts = browserDrafts("operator", "video");
  await drafts.load();
  const changed = { ...draft, base: words("new"), words: words("newer") };
  isFull = true;
  await drafts.save({ ...changed, id: "b" });
  isFull = false;
  await drafts.save({ ...changed, id: "c" });
  expect(stored.size).toBe(2);
});
