import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startChromium } from "../../../captions/test/chromium.ts";
import { accessibilityFaults } from "../../../dashboard/test/accessibility.ts";
import { shareService } from "../support/service.ts";

const service = shareService({ start: false });
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

async function visit(options: Parameters<Browser["newContext"]>[0]): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return await context.newPage();
}

for (const { colorScheme, width } of [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 390 },
] as const) {
  test(`every page of the documentation is accessible and no wider than its window: ${colorScheme}, ${width} pixels`, async () => {
    const page = await visit({ colorScheme, viewport: { width, height: 844 } });
    const foreign: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(`${service.url}/`)) foreign.push(request.url());
    });
    page.on("console", (message) => {
      // Chromium requests an icon, which exists only with the dashboard's build.
      if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text());
    });
    await page.goto(`${service.url}/docs`);
    const paths = await page.evaluate<string[]>(
      "[...document.querySelectorAll('nav.side a[href^=\"/docs\"]')].map(({ pathname }) => pathname)",
    );
    expect(paths.length).toBeGreaterThan(12);
    const faults: string[] = [];
    for (const path of ["/docs", ...new Set(paths), "/docs/search?q=webhook"]) {
      await page.goto(`${service.url}${path}`);
      const found = await accessibilityFaults(page);
      if (await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
        found.push("it is wider than the window");
      faults.push(...found.map((fault) => `${path}: ${fault}`));
      if (process.env.SCREENSHOTS)
        await takePicture(page, `${path.replaceAll(/\W+/g, "-")}-${colorScheme}-${width}`);
    }
    expect([faults, foreign, complaints]).toEqual([[], [], []]);
  }, 420_000);
}

test("a reader without scripts finds the answer to a question", async () => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto(`${service.url}/docs`);
  await page.getByRole("searchbox").fill("engine_out_of_memory");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "engine_out_of_memory" }).first().click();
  expect(page.url()).toBe(`${service.url}/docs/errors#engine_out_of_memory`);
  expect(await page.locator("tr:target").innerText()).toContain("SPEECH_MEMORY_LIMIT_MB");
});

test("on a phone the contents open with a tap and lead to another page", async () => {
  const page = await visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await page.goto(`${service.url}/docs/engines`);
  await page.getByText("Contents", { exact: true }).tap();
  await page
    .getByRole("navigation", { name: "Contents" })
    .getByRole("link", { name: "Models", exact: true })
    .tap();
  await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
});

async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS ?? "";
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `docs${name}.png`), await page.screenshot());
}
