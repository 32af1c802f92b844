import { expect, test } from "vitest";
import { safeFileName } from "../../src/storage/content-disposition.ts";

test.each([
  ["  ..Board meeting.mp4. ", "Board meeting.mp4"],
  ["a  .  b", "a  .  b"],
  ["...", "file"],
  ["../../etc/passwd", "_.._etc_passwd"],
  [`${"議".repeat(100)}.mp4`, `${"議".repeat(83)}.mp4`],
  [`${"議".repeat(100)}.ja.vtt`, `${"議".repeat(82)}.ja.vtt`],
  [`${"a".repeat(200)}.zh-Hant.json`, `${"a".repeat(137)}.zh-Hant.json`],
])("the file name %j becomes %j", (name, safe) => {
  expect(safeFileName(name)).toBe(safe);
});

// With a regular expression that takes quadratic time, this takes longer than the test's timeout.
test("a file name with a long run of spaces is shortened", () => {
  expect(safeFileName(`a${" ".repeat(100_000)}a`)).toBe("a");
});
