import { expect, test } from "vitest";
import { formatPercent } from "../src/ui/format.ts";

test("a share is shown as the percentage that is complete, however its decimals are stored", () => {
  const shares = [0, 0.28, 0.29, 0.57, 0.996, 0.9999999, 1];
  expect(shares.map(formatPercent)).toEqual(["0%", "28%", "29%", "57%", "99%", "99%", "100%"]);
});
