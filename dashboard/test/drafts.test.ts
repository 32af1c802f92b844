import type { EditableWord } from "@subtext/client/contract/transcript-words";
import { beforeEach, expect, test, vi } from "vitest";
import { browserDrafts } from "../src/features/video-detail/correction/drafts.ts";

const stored = new Map<string, unknown>();
let isFull = false;
/** A page that is being closed gets no answers. */
let isClosing = false;
vi.mock("idb-keyval", () => {
  const read = (key: string) => {
    if (isClosing) throw new DOMException("closing", "AbortError");
    return structuredClone(stored.get(key));
  };
  return {
    createStore: () => async (_mode: string, use: (store: object) => Promise<unknown>) => {
      const writes: (() => void)[] = [];
      let isPut = false;
      const result = await use({
        get: (key: string) => ({ result: read(key) }),
        put(value: unknown, key: string) {
          isPut = true;
          const copy = structuredClone(value);
          writes.push(() => stored.set(key, copy));
        },
        delete: (key: string) => writes.push(() => stored.delete(key)),
        transaction: { commit() {} },
      });
      if (isFull && isPut) throw new DOMException("full", "QuotaExceededError");
      for (const write of writes) write();
      return result;
    },
    promisifyRequest: async ({ result }: { result?: unknown }) => result,
    get: async (key: string) => read(key),
    getMany: async (keys: string[]) => keys.map(read),
  };
});

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
  isClosing = false;
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
  expect(stored.size).toBe(3);
});

test("drafts of two tabs keep the words that the stored one is based on, and leave none behind", async () => {
  const texts = async () =>
    (await browserDrafts("operator", "video").load())?.words.map(({ word }) => word).join(" ");
  const first = browserDrafts("operator", "video");
  const second = browserDrafts("operator", "video");
  await first.save({ ...draft, id: "a", words: words("1", "two", "three") });
  await second.load();
  const other = { ...draft, etag: '"2"', base: words("new", "words") };
  await second.save({ ...other, id: "b", words: words("new", "word") });
  expect(await texts()).toBe("new word");
  expect(stored.size).toBe(3);

  await first.save({ ...draft, id: "c", words: words("1", "2", "three") });
  expect(await texts()).toBe("1 2 three");
  expect(stored.size).toBe(3);

  await second.save({ ...other, id: "d", words: words("new", "text") });
  isClosing = true;
  await first.save({ ...draft, id: "e", words: words("1", "2", "3") }, { isClosing });
  isClosing = false;
  expect(await texts()).toBe("1 2 3");
  expect(stored.size).toBe(3);
  await first.remove("e");
  expect(stored.size).toBe(0);
});
