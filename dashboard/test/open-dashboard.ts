import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, inject, onTestFinished } from "vitest";
import { startChromium } from "../../captions/test/chromium.ts";
import { readConfig } from "../../server/src/config/config.ts";
import { openService, type Service } from "../../server/src/main.ts";
import { createLog } from "../../server/src/telemetry/log.ts";
import { freePort } from "../../server/test/support/free-port.ts";
import { MovableClock } from "../../server/test/support/service.ts";

export interface Dashboard {
  service: Service;
  url: string;
  /** Opens a browser context without a session. */
  visit(options?: Parameters<import("playwright-core").Browser["newContext"]>[0]): Promise<{
    context: BrowserContext;
    page: Page;
  }>;
  /** Opens another page in a context. */
  newTab(context: BrowserContext): Promise<Page>;
  /** Errors that pages threw or logged, including violations of the Content-Security-Policy. */
  errors: string[];
}

/** Starts the real server with the current dashboard, and a real browser, for all tests of a file. */
export function openDashboard(env: Record<string, string> = {}): Dashboard {
  const dashboard = { errors: [] } as unknown as Dashboard;
  beforeAll(async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "subtext-dashboard-"));
    // Copy a data folder, because creating a database takes seconds.
    await cp(inject("templateDataFolder"), dataFolder, { recursive: true });
    const port = await freePort();
    const config = readConfig({
      DATA_DIR: dataFolder,
      PORT: String(port),
      MODEL_DOWNLOAD: "off",
      LOG_LEVEL: "warn",
      ...env,
    });
    const clock = new MovableClock();
    const service = await openService({
      config,
      log: createLog("silent"),
      clock,
      dashboardFolder: inject("dashboardFolder"),
    });
    await service.start();
    const browser = await startChromium();
    Object.assign(dashboard, {
      service,
      url: config.publicUrl,
      async visit(options) {
        // All sign-ins come from the same address and would reach its rate limit.
        clock.advance(60_000);
        const context = await browser.newContext({ reducedMotion: "reduce", ...options });
        // Open pages keep streaming and playing, which would slow down later tests.
        onTestFinished(() => context.close());
        return { context, page: await dashboard.newTab(context) };
      },
      async newTab(context) {
        const page = await context.newPage();
        page.on("pageerror", (error) => dashboard.errors.push(String(error)));
        page.on("console", (message) => {
          // Chromium also logs rejected requests, which some tests expect.
          const isRejectedRequest = message.text().startsWith("Failed to load resource");
          if (message.type() === "error" && !isRejectedRequest) dashboard.errors.push(message.text());
        });
        return page;
      },
    } satisfies Partial<Dashboard>);
    return async () => {
      await browser.close();
      await service.stop();
      await rm(dataFolder, { recursive: true, force: true });
    };
  });
  return dashboard;
}

/** Creates the owner, if there is none, without using the setup page. Does not create an environment. */
export async function createOwner({ service }: Dashboard): Promise<void> {
  const { operators } = service.parts;
  const token = await operators.newSetupToken();
  if (token === null) return;
  await operators.setUp(token, { name: "Olive Owner", ...OWNER }, async () => {});
}

/** Completes the setup page, which creates the owner and an environment. */
export async function completeSetup(page: Page, { service, url }: Dashboard): Promise<void> {
  await page.goto(`${url}/setup#${await service.parts.operators.newSetupToken()}`);
  await page.getByLabel("Name", { exact: true }).fill("Olive Owner");
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.getByRole("button", { name: "Finish setup" }).click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
}

export const OWNER = { email: "olive@subtext.example", password: "a long enough password" };

export async function signIn(
  page: Page,
  { url }: Dashboard,
  { email, password }: { email: string; password: string },
): Promise<void> {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
}
