import { type AvailableEngines, chooseEngines } from "@subtext/speech/engines/registry";
import { expect, test } from "vitest";

const WHISPER = { folder: "/models/whisper-small", prefersBundledForEnglish: false };
const OPENAI = {
  kind: "openai" as const,
  servers: [{ url: "http://gpu:8000/v1", apiKey: null }],
  model: "whisper-1",
};

function available(parts: Partial<AvailableEngines>): AvailableEngines {
  return { whisper: null, configured: [], whisperRemedy: "Run: subtext models pull", ...parts };
}

test("without anything installed or named, the bundled engine is used alone, and what would help is reported", () => {
  expect(chooseEngines("auto", available({}))).toMatchObject({
    bundled: true,
    multilingual: null,
    remedy: expect.stringContaining("subtext models pull"),
  });
});

test("a multilingual model is used if there is one", () => {
  expect(chooseEngines("auto", available({ whisper: WHISPER }))).toMatchObject({
    multilingual: { kind: "whisper", folder: "/models/whisper-small" },
    bundledTakesEnglish: false,
  });
});

test("the bundled engine takes English from a model that transcribes it no better", () => {
  const whisper = { ...WHISPER, prefersBundledForEnglish: true };
  expect(chooseEngines("auto", available({ whisper }))).toMatchObject({
    bundled: true,
    multilingual: { kind: "whisper" },
    bundledTakesEnglish: true,
  });
});

test("servers that somebody has named come before a model on this machine", () => {
  expect(chooseEngines("auto", available({ whisper: WHISPER, configured: [OPENAI] }))).toMatchObject({
    bundled: false,
    multilingual: OPENAI,
  });
});

test("an engine that is named is the only one", () => {
  const all = available({ whisper: { ...WHISPER, prefersBundledForEnglish: true }, configured: [OPENAI] });
  expect(chooseEngines("moonshine", all)).toMatchObject({ bundled: true, multilingual: null });
  expect(chooseEngines("openai", all)).toMatchObject({ bundled: false, multilingual: OPENAI });
  expect(chooseEngines("whisper", all)).toMatchObject({
    bundled: false,
    multilingual: { kind: "whisper" },
    bundledTakesEnglish: false,
  });
});

test("an engine that is named and not there is an error that reports how to get it", () => {
  expect(() => chooseEngines("whisper", available({}))).toThrow("subtext models pull");
  expect(() => chooseEngines("openai", available({}))).toThrow("not configured");
});
