import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FAILURE_CODES } from "@subtext/client/contract/transcription";
import { SPEECH_ERRORS } from "@subtext/speech/errors";
import { expect, test } from "vitest";
import { APP_ERRORS } from "../../src/lib/errors.ts";

const docs = readFileSync(join(import.meta.dirname, "../../../docs/errors.md"), "utf8");
const rows = [...docs.matchAll(/^\| `(\w+)` \| (.+?) \|(?: (yes|no) \|)?/gm)];

test("docs/errors.md has every HTTP error with its status and whether a retry helps", () => {
  const documented = rows
    .filter(([, , second]) => /^\d+$/.test(second ?? ""))
    .map(([, code, status, retry]) => [code, Number(status), retry === "yes"]);
  const known = Object.entries(APP_ERRORS).map(([code, { status, retryable }]) => [code, status, retryable]);
  expect(documented.sort()).toEqual(known.sort());
});

test("docs/errors.md has every reason of a failed transcription and whether it is retried", () => {
  const documented = rows
    .filter(([, code]) => (code ?? "") in SPEECH_ERRORS)
    .map(([, code, retried]) => [code, retried === "yes"]);
  const known = Object.entries(SPEECH_ERRORS).map(([code, { retryable }]) => [code, retryable]);
  expect(documented.sort()).toEqual(known.sort());
});

test("the contract and docs/errors.md name the same reasons of a failed transcription", () => {
  const [, section = ""] = docs.split("## Why a transcription failed");
  const cells = [...section.matchAll(/^\| (`.+?`) \|/gm)].map(([, cell]) => cell ?? "");
  const documented = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  expect(documented).toEqual([...FAILURE_CODES]);
  expect(documented).toEqual(expect.arrayContaining(Object.keys(SPEECH_ERRORS)));
});
