import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts the machine's own Chromium. */
export function startChromium(): Promise<Browser> {
  const executablePath = PLACES.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error(`No Chromium found at ${PLACES.join(", ")}; on Debian: apt-get install chromium`);
  }
  // The sandbox wants privileges that containers do not give; only our own loopback page is opened. Where there is
  // no graphics card, Chromium would play one in software, at some cost.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}
