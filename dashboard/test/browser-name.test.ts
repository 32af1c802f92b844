import { expect, test } from "vitest";
import { browserName } from "../src/features/account/browser-name.ts";

const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
const ANDROID = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0";
const MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)";

test("the account page names the browser and the system of a session", () => {
  const names = [
    `${IPHONE} Version/18.5 Mobile/15E148 Safari/604.1`,
    `${IPHONE} CriOS/138.0.7204.33 Mobile/15E148 Safari/604.1`,
    `${IPHONE} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`,
    `${IPHONE} Version/18.0 EdgiOS/138.0.3351.65 Mobile/15E148 Safari/605.1.15`,
    `${IPHONE} Version/18.5 Mobile/15E148 Safari/604.1 OPT/5.6.1`,
    `${ANDROID} Mobile Safari/537.36`,
    `${ANDROID} Mobile Safari/537.36 EdgA/138.0.0.0`,
    `${MAC} Chrome/138.0.0.0 Safari/537.36`,
    `${MAC} Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0`,
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "curl/8.5.0",
    null,
  ].map(browserName);
  expect(names).toEqual([
    "Safari on iOS",
    "Chrome on iOS",
    "Firefox on iOS",
    "Edge on iOS",
    "Opera on iOS",
    "Chrome on Android",
    "Edge on Android",
    "Chrome on macOS",
    "Edge on macOS",
    "Firefox on Linux",
    "Unknown browser",
    "Unknown browser",
  ]);
});
