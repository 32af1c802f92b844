import type { EditableWord, TranscriptWords } from "@subtext/client/contract/transcript-words";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Draft } from "../src/features/video-detail/correction/drafts.ts";
import type { EditSession } from "../src/features/video-detail/correction/edit-session.ts";
import { changeText, paragraphText } from "../src/features/video-detail/correction/edited-transcript.ts";
import { EditingSession, type SaveRequest } from "../src/features/video-detail/correction/editing-session.ts";

class Outdated extends Error {}
class Unreachable extends Error {}

/** A server with one transcript, and a browser's draft store. */
class Fake {
  current: TranscriptWords;
  saves: SaveRequest[] = [];
  draft: Draft | null = null;
  failWith: Error | null = null;

  constructor(text = "the cat sat on the mat") {
    const words = text.split(" ").map(
      (word, index): EditableWord => ({
        word,
        start: index,
        end: index + 0.5,
        speaker: null,
        channel: null,
        confidence: 0.9,
      }),
    );
    this.current = { etag: "0", revision: 0, words };
  }

  readonly api = {
    load: async () => this.current,
    save: async (request: SaveRequest) => {
      if (this.failWith) throw this.failWith;
      if (request.etag !== this.current.etag) throw new Outdated();
      this.saves.push(request);
      this.current = { etag: `${this.saves.length}`, revision: 1, words: [...request.words] };
      return { etag: this.current.etag, revision: 1 };
    },
    isOutdated: (error: unknown) => error instanceof Outdated,
    isTemporary: (error: unknown) => error instanceof Unreachable,
  };

  readonly drafts = {
    load: async () => this.draft,
    save: async (draft: Draft) => {
      this.draft = draft;
    },
    remove: async (id: string) => {
      if (this.draft?.id === id) this.draft = null;
    },
  };

  /** A change by another person. */
  changeElsewhere(from: string, to: string): void {
    const words = this.current.words.map((word) => (word.word === from ? { ...word, word: to } : word));
    this.current = { etag: `${this.current.etag}x`, revision: 2, words };
  }

  get text(): string {
    return this.current.words.map(({ word }) => word).join(" ");
  }

  editSession: EditSession | null = null;
  readonly editSessions = {
    load: () => this.editSession,
    save: (session: EditSession) => {
      this.editSession = session;
    },
  };

  open = () => EditingSession.open({ api: this.api, drafts: this.drafts, editSessions: this.editSessions });
}

const textOf = ({ state }: EditingSession) =>
  state.transcript.map((words) => paragraphText(words).text).join("\n");

function type(session: EditingSession, from: string, to: string): void {
  const { transcript } = session.state;
  session.change(changeText(transcript, 0, textOf(session).replace(from, to), 10), "paragraph 0");
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("autosave", () => {
  test("saves two seconds after the last change, once", async () => {
    const server = new Fake();
    const session = await server.open();
    type(session, "cat", "ca");
    await vi.advanceTimersByTimeAsync(1_500);
    type(session, "ca", "dog");
    await vi.advanceTimersByTimeAsync(1_500);
    expect(server.saves).toEqual([]);
    expect(session.state.save).toBe("unsaved");
    await vi.advanceTimersByTimeAsync(500);
    expect(server.text).toBe("the dog sat on the mat");
    expect(server.saves).toHaveLength(1);
    expect(session.state.save).toBe("saved");
    expect(server.draft).toBeNull();
  });

  test("continues an editing session, and begins another after ten minutes without changes", async () => {
    const server = new Fake();
    const session = await server.open();
    for (const [from, to, waitMs] of [
      ["cat", "dog", 5_000],
      ["dog", "cow", 600_000],
      ["cow", "pig", 5_000],
    ] as const) {
      type(session, from, to);
      await vi.advanceTimersByTimeAsync(waitMs);
    }
    const editSessionIds = server.saves.map(({ editSessionId }) => editSessionId);
    expect(editSessionIds[1]).toBe(editSessionIds[0]);
    expect(editSessionIds[2]).not.toBe(editSessionIds[0]);
  });

  test("continues the editing session if the editor is closed and opened again within ten minutes", async () => {
    const server = new Fake();
    for (const [from, to, waitMs] of [
      ["cat", "dog", 5_000],
      ["dog", "cow", 600_000],
      ["cow", "pig", 5_000],
    ] as const) {
      const session = await server.open();
      type(session, from, to);
      await session.save();
      await session.close();
      await vi.advanceTimersByTimeAsync(waitMs);
    }
    const [first, second, third] = server.saves.map(({ editSessionId }) => editSessionId);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test("retries during an outage, and saves what was typed in it", async () => {
    const server = new Fake();
    const session = await server.open();
    server.failWith = new Unreachable();
    type(session, "cat", "dog");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(session.state.save).toBe("retrying");
    type(session, "mat", "rug");
    await vi.advanceTimersByTimeAsync(3_000);
    server.failWith = null;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.text).toBe("the dog sat on the rug");
    expect(session.state.save).toBe("saved");
  });

  test("does not repeat a request that the server refuses, and keeps the draft", async () => {
    const server = new Fake();
    const session = await server.open();
    server.failWith = new Error("invalid words");
    type(session, "cat", "dog");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(session.state).toMatchObject({ save: "refused", error: server.failWith });
    expect(server.draft?.words.map(({ word }) => word)).toContain("dog");
  });
});

describe("a session that is closed", () => {
  test("saves what was typed just before", async () => {
    const server = new Fake();
    const session = await server.open();
    type(session, "cat", "dog");
    await session.close();
    expect(server.text).toBe("the dog sat on the mat");
    expect(server.draft).toBeNull();
  });

  test("saves what was typed during its last save", async () => {
    const server = new Fake();
    const session = await server.open();
    type(session, "cat", "dog");
    const save = session.save();
    type(session, "mat", "rug");
    await session.close();
    await save;
    expect(server.text).toBe("the dog sat on the rug");
  });

  test("does not retry, and keeps the draft", async () => {
    const server = new Fake();
    const session = await server.open();
    server.failWith = new Unreachable();
    type(session, "cat", "dog");
    const save = session.save();
    await session.close();
    await save;
    server.failWith = null;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.saves).toEqual([]);
    expect(server.draft?.words.map(({ word }) => word)).toContain("dog");
  });

  test("keeps the draft of a session that was opened later", async () => {
    const server = new Fake();
    const first = await server.open();
    type(first, "cat", "dog");
    const closed = first.close();
    const second = await server.open();
    type(second, "mat", "rug");
    await second.storeDraft();
    await closed;
    expect(server.draft?.words.map(({ word }) => word)).toContain("rug");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(server.text).toBe("the dog sat on the rug");
    expect(server.draft).toBeNull();
  });
});

test("a draft that is stored while an earlier one is being removed is removed, too", async () => {
  const server = new Fake();
  const session = await server.open();
  type(session, "cat", "dog");
  await session.storeDraft();
  vi.spyOn(server.drafts, "remove").mockImplementationOnce(async () => {
    type(session, "mat", "rug");
    await session.storeDraft();
  });
  await session.save();
  await session.save();
  expect(server.text).toBe("the dog sat on the rug");
  expect(server.draft).toBeNull();
});

describe("unsaved changes of an earlier visit", () => {
  async function leaveDraft(server: Fake): Promise<void> {
    const session = await server.open();
    type(session, "cat", "dog");
    server.failWith = new Unreachable();
    await session.close();
    server.failWith = null;
  }

  test("are restored and saved", async () => {
    const server = new Fake();
    await leaveDraft(server);
    expect(server.saves).toEqual([]);
    const session = await server.open();
    expect(textOf(session)).toBe("the dog sat on the mat");
    expect(session.state.wasRestored).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(server.text).toBe("the dog sat on the mat");
    expect(server.draft).toBeNull();
  });

  test("are merged with what others saved since", async () => {
    const server = new Fake();
    await leaveDraft(server);
    server.changeElsewhere("mat", "rug");
    expect(textOf(await server.open())).toBe("the dog sat on the rug");
  });
});

describe("a change by another person", () => {
  test("is merged before a save, which overwrites nothing", async () => {
    const server = new Fake();
    const session = await server.open();
    type(session, "cat", "dog");
    server.changeElsewhere("mat", "rug");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(server.text).toBe("the dog sat on the rug");
    expect(session.state).toMatchObject({ save: "saved", merges: 1, conflicts: [] });
  });

  test("of the same word is reported as a conflict", async () => {
    const server = new Fake();
    const session = await server.open();
    type(session, "cat", "dog");
    server.changeElsewhere("cat", "cow");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(server.text).toBe("the dog sat on the mat");
    expect(session.state.conflicts).toEqual([{ mine: "dog", theirs: "cow" }]);
  });

  test("appears as soon as it is known, and undo does not revert it", async () => {
    const server = new Fake();
    const session = await server.open();
    type(session, "cat", "dog");
    server.changeElsewhere("mat", "rug");
    await session.update();
    expect(textOf(session)).toBe("the dog sat on the rug");
    session.undo();
    expect(textOf(session)).toBe("the dog sat on the rug");
  });
});

test("a save is not lost if the words of another person cannot be loaded", async () => {
  const server = new Fake();
  const session = await server.open();
  type(session, "cat", "dog");
  const { load } = server.api;
  server.api.load = () => Promise.reject(new Unreachable());
  const update = session.update();
  const save = session.save();
  await Promise.all([update, save]);
  server.api.load = load;
  expect(server.text).toBe("the dog sat on the mat");
  expect(session.state.save).toBe("saved");
});

test("changes that were undone are not saved as a revision", async () => {
  const server = new Fake();
  const session = await server.open();
  type(session, "cat", "dog");
  session.undo();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(session.state.save).toBe("saved");
  expect(server.saves).toEqual([]);
});

test("typing without a pause is saved after twenty seconds", async () => {
  const server = new Fake();
  const session = await server.open();
  let word = "cat";
  for (let seconds = 0; seconds < 21; seconds++) {
    type(session, word, `${word}t`);
    word = `${word}t`;
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(server.saves).toHaveLength(1);
});

test("undo reverts a group of changes at once, and redo repeats it", async () => {
  const session = await new Fake().open();
  type(session, "cat", "ca");
  type(session, "ca", "c");
  await vi.advanceTimersByTimeAsync(1_500);
  type(session, "mat", "rug");
  session.undo();
  expect(textOf(session)).toBe("the c sat on the mat");
  session.undo();
  expect(textOf(session)).toBe("the cat sat on the mat");
  expect(session.state).toMatchObject({ canUndo: false, canRedo: true });
  session.redo();
  session.redo();
  expect(textOf(session)).toBe("the c sat on the rug");
});
