import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startChromium } from "../../../captions/test/chromium.ts";
import { accessibilityViolations } from "../../../dashboard/test/accessibility.ts";
import { shareService } from "../support/service.ts";

const service = shareService({ start: false });
let browser: Browser;
beforeAll(async () => {
  execFileSync("npm", ["run", "--silent", "docs:build"], { stdio: "inherit" });
  browser = await startChromium();
}, 240_000);
afterAll(() => browser.close());

interface Visit {
  page: Page;
  /** Errors, blocked resources, and requests to other hosts. */
  problems: string[];
}

async function visit(options: Parameters<Browser["newContext"]>[0]): Promise<Visit> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(`${service.url}/`)) problems.push(`requested ${request.url()}`);
  });
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`${page.url()}: ${message.text()}`);
  });
  return { page, problems };
}

const PICTURE_CORNER_ALPHA = `(async () => {
  const picture = document.querySelector("img[src*='flow']");
  await picture.decode();
  const context = Object.assign(document.createElement("canvas"), { width: 960, height: 330 }).getContext("2d");
  context.drawImage(picture, 0, 0);
  return context.getImageData(2, 2, 1, 1).data[3];
})()`;

const isWider = "document.documentElement.scrollWidth > innerWidth";

for (const { colorScheme, width } of [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 360 },
] as const) {
  test(`every page of the documentation is accessible, no wider than its window, and asks no other host: ${colorScheme}, ${width} pixels`, async () => {
    const { page, problems } = await visit({ colorScheme, viewport: { width, height: 800 } });
    await page.goto(`${service.url}/docs`);
    const paths = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.VPSidebar a')].map(({ pathname }) => pathname)",
    );
    expect(paths.length).toBeGreaterThan(20);
    const violations: string[] = [];
    for (const path of ["/docs/", ...paths]) {
      await page.goto(`${service.url}${path}`, { waitUntil: "networkidle" });
      if (path !== "/docs/api-reference") violations.push(...(await accessibilityViolations(page)));
      else await page.getByRole("heading", { name: "Subtext" }).first().waitFor();
      if (await page.evaluate(isWider)) violations.push(`${path} is wider than the window`);
      if (process.env.SCREENSHOTS)
        await takePicture(page, `${path.replaceAll(/\W+/g, "-")}-${colorScheme}-${width}`);
    }
    expect([violations, problems]).toEqual([[], []]);
  }, 420_000);
}

test("the search finds an error code and leads to its page", async () => {
  const { page, problems } = await visit({});
  await page.goto(`${service.url}/docs/`);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("engine_out_of_memory");
  await page.locator("#localsearch-list a", { hasText: "Errors" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
  expect(page.url()).toContain("/docs/errors");
  expect(problems).toEqual([]);
});

test("the address in a problem document leads to the row of its code", async () => {
  const { page, problems } = await visit({});
  await page.goto(`${service.url}/docs/errors#storage_full`);
  expect(await page.locator("tr:target").innerText()).toContain("507");
  expect(problems).toEqual([]);
});

test("the pages stay dark after a reader chose that", async () => {
  const { page, problems } = await visit({ colorScheme: "light" });
  await page.goto(`${service.url}/docs/`);
  const background = "getComputedStyle(document.body).backgroundColor";
  const light = await page.evaluate(background);
  await page.getByRole("switch").first().click();
  // The picture follows the choice, not the system.
  expect(await page.evaluate(PICTURE_CORNER_ALPHA)).toBe(0);
  await page.goto(`${service.url}/docs/engines`);
  expect(await page.evaluate(background)).not.toBe(light);
  expect(problems).toEqual([]);
});

test("the API reference shows the service's operations and leads back to the documentation", async () => {
  const { page, problems } = await visit({});
  await page.goto(`${service.url}/docs/api-reference`);
  await page.getByText("/api/v1/videos/{videoId}", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: "Documentation", exact: true }).click();
  await page.locator("main").getByRole("link", { name: "Errors" }).waitFor();
  expect(problems).toEqual([]);
});

test("a reader without scripts can follow the contents", async () => {
  const { page } = await visit({ javaScriptEnabled: false });
  await page.goto(`${service.url}/docs/`);
  await page.locator("main").getByRole("link", { name: "Errors" }).click();
  await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
});

test("on a phone the contents open with a tap and lead to another page", async () => {
  const { page } = await visit({ viewport: { width: 360, height: 800 }, hasTouch: true });
  await page.goto(`${service.url}/docs/engines`);
  await page.getByRole("button", { name: "Menu" }).tap();
  await page.locator(".VPSidebar").getByRole("link", { name: "Models", exact: true }).tap();
  await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
});

async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS ?? "";
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `docs${name}.png`), await page.screenshot());
}
