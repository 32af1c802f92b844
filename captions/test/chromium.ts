import { existsSync } from "node:fs";
import { type Browser, chromium, type LaunchOptions } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts the installed Chromium. */
export function startChromium(options: LaunchOptions = {}): Promise<Browser> {
  const executablePath = PLACES.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error(`No Chromium found at ${PLACES.join(", ")}; on Debian: apt-get install chromium`);
  }
  // Containers do not grant the privileges that the sandbox needs, and tests open only pages on loopback. Without a
  // GPU, Chromium would emulate one in software, which is slow.
  return chromium.launch({ ...options, executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}
