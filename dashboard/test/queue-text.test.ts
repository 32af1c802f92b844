import { expect, test } from "vitest";
import { queueText } from "../src/ui/queue-text.ts";

test("the first 20 videos in the queue show their place, and later ones only when they start", () => {
  const at = (queuePosition: number | null, startsInSeconds: number | null = null) =>
    queueText({ queuePosition, startsInSeconds });
  expect(at(1)).toBe("Next in queue");
  expect(at(20)).toBe("20th in queue");
  expect(at(20, 600)).toBe("20th in queue · starts in about 10 min");
  expect(at(21)).toBe("In queue");
  expect(at(21, 600)).toBe("Starts in about 10 min");
  expect(at(null)).toBe("In queue");
});
