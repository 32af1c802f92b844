import { renderSpeakerSrt, renderSpeakerText, renderSpeakerVtt } from "@subtext/captions/speakers";
import { renderSrt } from "@subtext/captions/srt";
import { renderText } from "@subtext/captions/text";
import { renderVtt } from "@subtext/captions/vtt";
import { normalizeWords, type Word } from "@subtext/captions/words";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAsPlayer, parseStrictly } from "./parsers.ts";
import { language, speak, speech } from "./speech.ts";

function speakTurns(...turns: [speaker: string | undefined, text: string][]): Word[] {
  return turns.flatMap(([speaker, text], turn) =>
    speak([text], 0.5, turn * 10).map((word) => ({ ...word, speaker })),
  );
}

const english = { language: "en" };
const conversation = speakTurns(
  ["Ada", "Shall we begin?"],
  ["Grace Hopper", "Yes."],
  [undefined, "(laughter)"],
  ["Grace Hopper", "Let us."],
);

test("text has the name at the start of each turn", () => {
  expect(renderSpeakerText(conversation)).toBe(
    "Ada: Shall we begin?\n\nGrace Hopper: Yes.\n\n(laughter)\n\nGrace Hopper: Let us.\n",
  );
  const long = speakTurns(["Ada", "One."], ["Ada", "Two."]);
  expect(renderSpeakerText(long)).toBe("Ada: One.\n\nTwo.\n");
});

test("SubRip has the name in the first caption of each turn", () => {
  const captions = renderSpeakerSrt(conversation, english).match(/^[^\d\n].*$/gm);
  expect(captions).toEqual([
    "Ada: Shall we begin?",
    "Grace Hopper: Yes.",
    "(laughter)",
    "Grace Hopper: Let us.",
  ]);
});

test("WebVTT has a voice span in each caption", () => {
  const captions = renderSpeakerVtt(conversation, english).match(/^[^\dW\n].*$/gm);
  expect(captions).toEqual([
    "<v Ada>Shall we begin?",
    "<v Grace Hopper>Yes.",
    "(laughter)",
    "<v Grace Hopper>Let us.",
  ]);
});

test("turns of two speakers never share a paragraph or a caption, even without a pause", () => {
  const words = speak(["Yes", "no", "maybe."], 0.5).map((word, index) => ({
    ...word,
    speaker: "ABB"[index]!,
  }));
  expect(renderSpeakerText(words)).toBe("A: Yes\n\nB: no maybe.\n");
  expect(renderSpeakerSrt(words, english)).toMatch(/\nA: Yes\n\n.*\n.*\nB: no maybe\.\n$/);
  expect(renderSpeakerVtt(words, english)).toMatch(/\n<v A>Yes\n\n.*\n<v B>no maybe\.\n$/);
});

test("the other renderers ignore names", () => {
  const unnamed = conversation.map(({ speaker: _, ...word }) => word);
  expect(renderText(conversation)).toBe(renderText(unnamed));
  expect(renderSrt(conversation, english)).toBe(renderSrt(unnamed, english));
  expect(renderVtt(conversation, english)).toBe(renderVtt(unnamed, english));
});

test("without names the files are the same as those of the other renderers", () => {
  fc.assert(
    fc.property(speech, language, (raw, code) => {
      const words = normalizeWords(raw, 400_000);
      expect(renderSpeakerText(words)).toBe(renderText(words));
      expect(renderSpeakerSrt(words, { language: code })).toBe(renderSrt(words, { language: code }));
      expect(renderSpeakerVtt(words, { language: code })).toBe(renderVtt(words, { language: code }));
    }),
  );
});

test("WebVTT is valid with any names", async () => {
  const name = fc.constantFrom("Ada", "A & B", "<i>", "a > b --> c", "Ö. 林", undefined);
  await fc.assert(
    fc.asyncProperty(speech, fc.array(name, { minLength: 1 }), async (raw, names) => {
      // The player's parser does not support times of 100 hours or more.
      const words = normalizeWords(raw, 350_000).map((word, index) => ({
        ...word,
        speaker: names[(index >> 2) % names.length],
      }));
      const vtt = renderSpeakerVtt(words, english);
      const cues = vtt.match(/-->.*\n/g) ?? [];
      expect(parseStrictly(vtt).errors).toEqual([]);
      expect(await parseAsPlayer(vtt)).toHaveLength(cues.length);
    }),
  );
});
