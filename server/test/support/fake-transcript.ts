import type { Transcript } from "@subtext/speech/transcript";

export const FAKE_TRANSCRIPT: Transcript = {
  outcome: "transcribed",
  words: [{ word: "Hello.", start: 0, end: 0.5, confidence: 1 }],
  language: "en",
  duration: 1,
  speechSeconds: 0.5,
  languageSegments: [],
  engine: "fake",
  decoder: "fake",
  audioTrack: null,
  incomplete: false,
  stages: { probe: 0, decode: 0, voiceActivity: 0, engine: 0, total: 0 },
};
