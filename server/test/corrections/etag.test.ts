import { expect, test } from "vitest";
import { matchesCurrent } from "../../src/corrections/etag.ts";

const row = { revision: 2, edit_version: 5 };

test.each(['"2.5"', 'W/"2.5"', ' "2.5" ', '"2.4", "2.5"', "*", " * "])("If-Match: %s matches", (ifMatch) => {
  expect(matchesCurrent(ifMatch, row)).toBe(true);
});

test.each(['"2.4"', "2.5", '"12.5"', '"2.5', "", '"*"', '"2.4", "2.6"'])(
  "If-Match: %s does not match",
  (ifMatch) => {
    expect(matchesCurrent(ifMatch, row)).toBe(false);
  },
);

test("a request without If-Match is refused", () => {
  expect(() => matchesCurrent(undefined, row)).toThrow(
    expect.objectContaining({ code: "precondition_required" }),
  );
});
