import { describe, expect, test } from "vitest";
import type { RecognitionResult } from "../../src/engines/engine.ts";
import { compressionRatio } from "../../src/engines/recognition-result.ts";
import {
  isHallucination,
  type RecognitionEvidence,
  repeatedHallucinations,
  withoutHallucination,
} from "../../src/recognition/hallucinations.ts";

function said(text: string, evidence: Partial<RecognitionEvidence> = {}): RecognitionEvidence {
  return {
    words: text
      .split(" ")
      .filter((word) => word !== "")
      .map((word) => ({ word })),
    meanLogProbability: -0.2,
    compressionRatio: 1.2,
    noSpeechProbability: 0.02,
    truncated: false,
    ...evidence,
  };
}
const SENTENCE = "We will talk about the plan for next week and then go home.";

describe("speech is preserved", () => {
  test.each<[string, string, number, Partial<RecognitionEvidence>]>([
    ["a sentence", SENTENCE, 4, {}],
    ["one word", "Yes.", 0.3, {}],
    ["a sentence in noise, of which the model is unsure", SENTENCE, 4, { meanLogProbability: -0.9 }],
    [
      "a sentence that the model takes for silence, but is sure of",
      SENTENCE,
      4,
      { noSpeechProbability: 0.8 },
    ],
    ["a greeting before long laughter", "Hello everybody.", 9, {}],
    ["slow speech", "Well … I do not know what to say.", 12, {}],
    ["fast speech", Array(6).fill("uno dos tres cuatro cinco seis siete").join(" "), 6.5, {}],
    ["long words", "Kansaneläkelaitoksen eläkehakemuskäsittely", 5, {}],
    ["a script without spaces, as a single word", "今日はとても良い天気ですね、散歩に行きましょう。", 5, {}],
    ["a chorus", "la la la la la la la la la", 5, { compressionRatio: 3 }],
    ["an engine without a no-speech probability", SENTENCE, 4, { noSpeechProbability: null }],
  ])("%s", (_, text, seconds, evidence) => {
    expect(isHallucination(said(text, evidence), seconds)).toBe(false);
  });
});

describe("what a model makes up is not", () => {
  test.each<[string, string, number, Partial<RecognitionEvidence>]>([
    [
      "thanks over music",
      "Thank you for watching!",
      3,
      { noSpeechProbability: 0.7, meanLogProbability: -0.6 },
    ],
    ["thanks over long noise", "Thank you.", 14, { noSpeechProbability: 0.3 }],
    ["credits of subtitles", "Untertitel im Auftrag des ZDF", 25, { meanLogProbability: -0.4 }],
    ["what it is very unsure of", SENTENCE, 4, { meanLogProbability: -1.4 }],
    ["a loop that was cut", "and the and the and the and the", 6, { truncated: true, compressionRatio: 2.6 }],
    ["a loop that says too much for the time", Array(40).fill("no").join(" "), 3, {}],
    ["a loop that only repeats", Array(20).fill("the same").join(" "), 8, { compressionRatio: 5 }],
  ])("%s", (_, text, seconds, evidence) => {
    expect(isHallucination(said(text, evidence), seconds)).toBe(true);
  });

  test("of nothing recognized there is nothing to doubt", () => {
    expect(isHallucination(said("", { meanLogProbability: -3, truncated: true }), 20)).toBe(false);
  });
});

describe("a phrase that is said again and again in one utterance, at a speed at which people speak", () => {
  const PHRASES: [string, string][] = [
    ["Latin", "Please leave your message after the tone."],
    ["Cyrillic", "Пожалуйста, оставьте сообщение после сигнала."],
    ["Han", "请 在 提示音 之后 留下 您的 口信 谢谢 您的 来电。"],
    ["Devanagari", "कृपया बीप के बाद अपना संदेश छोड़ दें।"],
    ["Arabic", "من فضلك اترك رسالتك بعد سماع الصافرة."],
    ["Hangul", "삐 소리가 난 후에 메시지를 남겨 주세요."],
    ["Georgian", "გთხოვთ დატოვოთ შეტყობინება სიგნალის შემდეგ."],
    ["Thai", "กรุณา ฝาก ข้อความ หลัง เสียง สัญญาณ ครับ"],
  ];
  const SECONDS_PER_PHRASE = 3;
  const recognized = (phrase: string, times: number, evidence: Partial<RecognitionResult> = {}) => {
    const texts = Array(times).fill(phrase).join(" ").split(" ");
    const each = (SECONDS_PER_PHRASE * times) / texts.length;
    const words = texts.map((word, index) => ({
      word,
      start: index * each,
      end: (index + 1) * each,
      confidence: 0.8,
    }));
    const { meanLogProbability, noSpeechProbability, truncated } = said("");
    const ratio = compressionRatio(texts.join(" "));
    return {
      ...{
        words,
        language: null,
        meanLogProbability,
        noSpeechProbability,
        truncated,
        compressionRatio: ratio,
      },
      ...evidence,
    };
  };
  const textOf = (phrase: string, times: number, evidence?: Partial<RecognitionResult>) =>
    withoutHallucination(recognized(phrase, times, evidence), SECONDS_PER_PHRASE * times)
      .words.map(({ word }) => word)
      .join(" ");

  test.each(PHRASES)("is preserved three times, and kept once from ten times on, in %s", (_, phrase) => {
    for (const times of [1, 2, 3]) {
      expect(textOf(phrase, times)).toBe(Array(times).fill(phrase).join(" "));
    }
    for (const times of [10, 14]) expect(textOf(phrase, times)).toBe(phrase);
    // No number of repetitions loses the phrase.
    for (const times of [4, 5, 6, 7, 8, 9]) {
      expect([phrase, Array(times).fill(phrase).join(" ")]).toContain(textOf(phrase, times));
    }
  });

  test("is removed if there is another sign of a hallucination", () => {
    const [[, phrase]] = PHRASES as [[string, string]];
    expect(textOf(phrase, 10, { meanLogProbability: -0.8 })).toBe("");
    expect(textOf(phrase, 10, { noSpeechProbability: 0.9 })).toBe("");
    expect(textOf(phrase, 10, { truncated: true })).toBe("");
  });
});

describe("the same words again and again", () => {
  const times = (text: string, seconds: number[], evidence: Partial<RecognitionEvidence> = {}) =>
    seconds.map((speechSeconds) => ({ ...said(text, evidence), speechSeconds }));

  test("are preserved if they take equally long each time and the model is confident", () => {
    expect(repeatedHallucinations(times("Next, please.", [0.9, 1, 1.1, 0.9]))).toEqual(new Set());
  });

  test("are hallucinated if the same words take very different times", () => {
    const thanks = times("Thank you.", [0.6, 2.5, 1.1]);
    const sentence = { ...said(SENTENCE), speechSeconds: 4 };
    expect(repeatedHallucinations([sentence, ...thanks, sentence])).toEqual(new Set(thanks));
  });

  test("are hallucinated if the model doubts them, whatever case and marks they come in", () => {
    const thanks = [
      ...times("Thank you.", [1, 1], { noSpeechProbability: 0.5 }),
      ...times("thank you!", [1], { noSpeechProbability: 0.4 }),
    ];
    expect(repeatedHallucinations(thanks)).toEqual(new Set(thanks));
  });

  test("are preserved if they are said twice, or with other words between", () => {
    const [first, second, third] = times("Thank you.", [0.6, 2.5, 1.1]);
    const sentence = { ...said(SENTENCE), speechSeconds: 4 };
    expect(repeatedHallucinations([first!, second!, sentence, third!])).toEqual(new Set());
  });
});
