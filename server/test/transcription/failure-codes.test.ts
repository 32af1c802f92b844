import { FAILURE_CODES } from "@subtext/client/contract/transcription";
import { SPEECH_ERRORS } from "@subtext/speech/errors";
import { expect, test } from "vitest";

test("the contract has every error of the speech package as a reason of a failed transcription", () => {
  expect([...FAILURE_CODES]).toEqual(expect.arrayContaining(Object.keys(SPEECH_ERRORS)));
});
