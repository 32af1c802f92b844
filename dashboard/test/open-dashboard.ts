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
  /** A browser context without a session. Errors of its pages are added to `faults`. */
  visit(options?: Parameters<import("playwright-core").Browser["newContext"]>[0]): Promise<{
    context: BrowserContext;
    page: Page;
  }>;
  /** Errors of consoles and pages, including violations of the Content-Security-Policy. */
  faults: string[];
}

/** The real server with the current dashboard, and a real browser, shared by the tests of a file. */
export function openDashboard(env: Record<string, string> = {}): Dashboard {
  const dashboard = { faults: [] } as unknown as Dashboard;
  beforeAll(async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "subtext-dashboard-"));
    // Creating a database takes seconds.
    await cp(inject("madeDataFolder"), dataFolder, { recursive: true });
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
        // All sign-in attempts come from one address and would reach its rate limit.
        clock.advance(60_000);
        const context = await browser.newContext({ reducedMotion: "reduce", ...options });
        // An open page keeps streaming and playing, which slows down the tests after it.
        onTestFinished(() => context.close());
        const page = await context.newPage();
        page.on("pageerror", (error) => dashboard.faults.push(String(error)));
        page.on("console", (message) => {
          // Chromium logs rejected requests too, which some tests expect.
          const isRefusal = message.text().startsWith("Failed to load resource");
          if (message.type() === "error" && !isRefusal) dashboard.faults.push(message.text());
        });
        return { context, page };
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

/** Creates the owner, but no environment, without the setup page. */
export async function setUpOwner({ service }: Dashboard): Promise<void> {
  const { operators } = service.parts;
  const token = (await operators.newSetUpToken())!;
  await operators.setUp(token, { name: "Olive Owner", ...OWNER }, async () => {});
}

/** Opens the setup link and fills in the page. */
export async function setUpBy(page: Page, { service, url }: Dashboard): Promise<void> {
  await page.goto(`${url}/setup#${await service.parts.operators.newSetUpToken()}`);
  await page.getByLabel("Name", { exact: true }).fill("Olive Owner");
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.getByRole("button", { name: "Finish setup" }).click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
}

export const OWNER = { email: "olive@subtext.example", password: "a long enough password" };

export async function signInBy(
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
