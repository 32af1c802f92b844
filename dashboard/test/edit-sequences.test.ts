import type { EditableWord, TranscriptWords } from "@subtext/client/contract/transcript-words";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { checkWords } from "../../server/src/corrections/check-words.ts";
import { findReplacements, replaceWords } from "../src/features/video-detail/correction/drafts.ts";
import {
  changeText,
  confirmWord,
  type EditedTranscript,
  paragraphText,
  renameSpeaker,
  setSpeaker,
  splitIntoParagraphs,
} from "../src/features/video-detail/correction/edited-transcript.ts";
import { EditingSession } from "../src/features/video-detail/correction/editing-session.ts";
import { mergeWords } from "../src/features/video-detail/correction/merge-words.ts";
import { Typing } from "../src/features/video-detail/correction/paragraphs/typing.ts";
import {
  replaceRange,
  setSpeakerOfRange,
  wordsOfRange,
} from "../src/features/video-detail/correction/paragraphs/word-range.ts";
import { replaceAll } from "../src/features/video-detail/correction/replace-text.ts";

const DURATION = 60;
/** Three speakers, of whom two have a channel. Each word is unique. */
const START: readonly EditableWord[] = Array.from({ length: 24 }, (_, index) => ({
  word: `${nameOf(index)}${index % 6 === 5 ? "." : ""}`,
  start: index * 2 + (index % 3) * 0.25,
  end: index * 2 + 1 + (index % 3) * 0.5,
  speaker: index < 8 ? "Ada" : null,
  channel: index < 8 ? null : index < 16 ? 1 : 2,
  confidence: 0.4,
}));
/** Joining parts of two names does not result in another one. */
function nameOf(index: number): string {
  return "abcdefghijklmnopqrstuvwz"[index]!.repeat(3);
}

const PIECES = ["x", "new", " ", " y ", "é", "世界", "ไทย", "!", ", ", "no-one", "\u00a0", "« é »"];

/** Returns a word without its punctuation, because the server attaches punctuation between spaces to a word. */
function spoken(word: string): string {
  return word.replace(/[^\p{L}\p{M}\p{N}]/gu, "");
}

class Outdated extends Error {}

/** A server that checks words like the real one. */
class Server {
  current: TranscriptWords = { etag: "0", revision: 0, words: [...START] };
  #version = 0;

  put(words: readonly EditableWord[]): void {
    this.current = { etag: `${++this.#version}`, revision: 1, words: checkWords(words, DURATION) };
  }

  open(): Promise<EditingSession> {
    return EditingSession.open({
      api: {
        load: async () => this.current,
        save: async ({ words, etag }) => {
          if (etag !== this.current.etag) throw new Outdated();
          this.put(words);
          return this.current;
        },
        isOutdated: (error) => error instanceof Outdated,
        isTemporary: () => false,
      },
      drafts: { load: async () => null, save: async () => {}, remove: async () => {} },
      editSessions: { load: () => null, save: () => {} },
    });
  }
}

/** Words that no edit has touched. */
class Untouched {
  readonly words = new Map(START.map((word) => [spoken(word.word), word]));

  /** Notes a change of a paragraph's text. Words that touch the changed text count as touched. */
  change(before: string, after: string): void {
    const limit = Math.min(before.length, after.length);
    let from = 0;
    while (from < limit && before[from] === after[from]) from++;
    let suffix = 0;
    while (suffix < limit - from && before.at(-1 - suffix) === after.at(-1 - suffix)) suffix++;
    for (const { 0: word, index } of before.matchAll(/[^ ]+/g)) {
      if (index <= before.length - suffix && index + word.length >= from) this.words.delete(spoken(word));
    }
  }

  /** Checks that the words have their original times, in the original order. */
  expectIn(words: readonly EditableWord[]): void {
    const kept = words.filter(({ word }) => this.words.has(spoken(word)));
    expect(kept.map(({ word, start, end }) => [spoken(word), start, end])).toEqual(
      [...this.words].map(([word, { start, end }]) => [word, start, end]),
    );
  }
}

interface Step {
  kind:
    | "type"
    | "erase"
    | "replace"
    | "range"
    | "range speaker"
    | "speaker"
    | "rename"
    | "confirm"
    | "undo"
    | "redo"
    | "other"
    | "save";
  paragraph: number;
  at: number;
  length: number;
  text: string;
}

const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => pieces.join(""));
const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(
      "type",
      "type",
      "erase",
      "replace",
      "range",
      "range speaker",
      "speaker",
      "rename",
      "confirm",
      "undo",
      "redo",
      "other",
      "save",
    ),
    paragraph: fc.nat(8),
    at: fc.nat(40),
    length: fc.nat(6),
    text,
  }),
  { minLength: 1, maxLength: 20 },
);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function takeStep(
  { kind, paragraph, at, length, text }: Step,
  {
    server,
    session,
    typing,
    untouched,
  }: { server: Server; session: EditingSession; typing: Typing; untouched: Untouched },
): Promise<void> {
  const { transcript } = session.state;
  const index = paragraph % transcript.length;
  const words = transcript[index]!;
  const shown = paragraphText(words).text;
  const offset = at % (shown.length + 1);
  const from = words.length === 0 ? 0 : at % words.length;
  /** Types or erases one character at a time, like a keyboard. */
  const enter = (texts: Iterable<string>) => {
    let before = shown;
    for (const after of texts) {
      untouched.change(before, after);
      const change = { paragraph: index, before, after };
      session.change(typing.apply(session.state.transcript, change), `paragraph ${index}`);
      before = after;
    }
  };
  if (kind === "type") {
    enter(
      Array.from(text, (_, count) => shown.slice(0, offset) + text.slice(0, count + 1) + shown.slice(offset)),
    );
  } else if (kind === "erase") {
    const count = Math.min(length, offset);
    enter(
      Array.from({ length: count }, (_, erased) => shown.slice(0, offset - erased - 1) + shown.slice(offset)),
    );
  } else if (kind === "replace") {
    const search = { text: nameOf(at % START.length), matchCase: true };
    for (const words of transcript) {
      const before = paragraphText(words).text;
      if (before.includes(search.text)) untouched.change(before, before.replaceAll(search.text, text));
    }
    session.change(replaceAll(transcript, search, { text, durationSeconds: DURATION }));
  } else if (kind === "range" || kind === "range speaker") {
    const last = Math.min(transcript.length - 1, index + (length % 3));
    const to = { paragraph: last, word: (at + length) % (transcript[last]!.length + 1) };
    if (last === index && to.word < from) return;
    const range = { from: { paragraph: index, word: from }, to };
    if (kind === "range speaker") {
      session.change(setSpeakerOfRange(transcript, range, text.trim().slice(0, 3) || null));
      return;
    }
    for (const { word } of wordsOfRange(transcript, range)) untouched.words.delete(spoken(word));
    const replaced = replaceRange(transcript, range, text, DURATION);
    expect(replaced.caret.offset).toBeLessThanOrEqual(
      paragraphText(replaced.transcript[replaced.caret.paragraph]!).text.length,
    );
    session.change(replaced.transcript);
  } else if (kind === "speaker") {
    const range = { paragraph: index, from, to: Math.min(words.length, from + length) };
    session.change(setSpeaker(transcript, range, text.trim().slice(0, 3) || null));
  } else if (kind === "rename" && words[0]) {
    session.change(splitIntoParagraphs(renameSpeaker(transcript, words[0], "Bo").flat()));
  } else if (kind === "confirm" && words.length > 0) {
    session.change(confirmWord(transcript, { paragraph: index, word: from }));
  } else if (kind === "undo") session.undo();
  else if (kind === "redo") session.redo();
  else if (kind === "save") await session.save();
  else if (kind === "other") {
    const theirs = splitIntoParagraphs(server.current.words);
    const place = paragraph % theirs.length;
    const before = paragraphText(theirs[place]!).text;
    const start = at % (before.length + 1);
    const after = before.slice(0, start) + text + before.slice(start + length);
    untouched.change(before, after);
    server.put(changeText(theirs, place, after, DURATION).flat());
    await session.update();
  }
}

describe("after any sequence of typing, replacing, deleting across paragraphs, naming, undoing, saving and merging", () => {
  test("the server accepts the words, and untouched words keep their times", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const server = new Server();
        const session = await server.open();
        const parts = { server, session, typing: new Typing(DURATION), untouched: new Untouched() };
        for (const step of sequence) {
          await takeStep(step, parts);
          const words = session.state.transcript.flat();
          parts.untouched.expectIn(words);
          parts.untouched.expectIn(checkWords(words, DURATION));
        }
        await session.save();
        expect(session.state.save).toBe("saved");
        const shown = session.state.transcript
          .flat()
          .map(({ word }) => word)
          .join("");
        expect(server.current.words.map(({ word }) => word).join("")).toBe(shown);
      }),
      { numRuns: 200 },
    );
  });
});

test("a stored draft contains the same words", () => {
  const edits = fc.array(fc.record({ paragraph: fc.nat(8), at: fc.nat(40), length: fc.nat(9), text }), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(edits, (list) => {
      const words = list
        .reduce((edited, { paragraph, at, length, text }) => {
          const index = paragraph % edited.length;
          const before = paragraphText(edited[index]!).text;
          const named = setSpeaker(
            edited,
            { paragraph: index, from: 0, to: Math.min(1, edited[index]!.length) },
            text || null,
          );
          return changeText(named, index, before.slice(0, at) + text + before.slice(at + length), DURATION);
        }, splitIntoParagraphs(START))
        .flat();
      expect(replaceWords(START, findReplacements(START, words))).toEqual(words);
    }),
  );
});

describe("merging the edits of two people", () => {
  interface Edit {
    kind: "replace" | "insert" | "delete" | "split" | "join";
    index: number;
  }
  const edits = fc.array(
    fc.record<Edit>({
      kind: fc.constantFrom("replace", "insert", "delete", "split", "join"),
      index: fc.nat(7),
    }),
    { maxLength: 5 },
  );
  const BASE = START.slice(0, 8);

  /** Edits the words that still have their names. New words begin with `author`. */
  function edit(list: readonly Edit[], author: string) {
    const touched = new Set<string>();
    let transcript: EditedTranscript = [BASE];
    for (const [count, { kind, index }] of list.entries()) {
      const words = transcript[0]!.map(({ word }) => word);
      const at = words.indexOf(BASE[index]!.word);
      if (at < 0) continue;
      const [word, next] = [words[at]!, words[at + 1]];
      const name = `${author}${count}`;
      if (kind === "join" && next === undefined) continue;
      const changes = {
        replace: () => words.splice(at, 1, name),
        insert: () => words.splice(at, 0, name),
        delete: () => words.splice(at, 1),
        split: () => words.splice(at, 1, `${name}a`, `${name}b`),
        join: () => words.splice(at, 2, `${word}${name}${next}`),
      };
      changes[kind]();
      if (kind !== "insert") touched.add(word);
      if (kind === "join") touched.add(next!);
      transcript = changeText(transcript, 0, words.join(" "), DURATION);
    }
    return { words: transcript[0]!, touched };
  }

  test("loses no word without a notice, and keeps the times of words that nobody changed", () => {
    fc.assert(
      fc.property(edits, edits, (myEdits, theirEdits) => {
        const [mine, theirs] = [edit(myEdits, "1"), edit(theirEdits, "2")];
        const { words, conflicts } = mergeWords(BASE, mine.words, theirs.words);
        checkWords(words, DURATION);
        const merged = words.map(({ word }) => word);
        const reported = conflicts.flatMap(({ theirs }) => theirs.split(" "));
        const isNew = ({ word }: EditableWord) => !BASE.some((base) => base.word === word);
        for (const { word } of mine.words.filter(isNew))
          expect(merged.filter((each) => each === word)).toHaveLength(1);
        for (const { word } of theirs.words.filter(isNew)) {
          const count = merged.filter((each) => each === word).length;
          expect(count === 1 || (count === 0 && reported.includes(word))).toBe(true);
        }
        for (const base of BASE) {
          const [isMine, isTheirs] = [mine.touched.has(base.word), theirs.touched.has(base.word)];
          const found = words.filter(({ word }) => word === base.word);
          if (!isMine && !isTheirs)
            expect(found.map(({ start, end }) => [start, end])).toEqual([[base.start, base.end]]);
          else if (isMine || !conflicts.length) expect(found).toEqual([]);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
