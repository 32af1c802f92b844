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
  /** A browser of its own for the test, without any session. Its pages' faults end up in `faults`. */
  visit(options?: Parameters<import("playwright-core").Browser["newContext"]>[0]): Promise<{
    context: BrowserContext;
    page: Page;
  }>;
  /** What consoles and pages complained of, among it whatever the Content-Security-Policy stopped. */
  faults: string[];
}

/** The real service with the dashboard as it is built now, and a real browser; for all tests of a file. */
export function openDashboard(env: Record<string, string> = {}): Dashboard {
  const dashboard = { faults: [] } as unknown as Dashboard;
  beforeAll(async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "subtext-dashboard-"));
    // A new database takes seconds to make.
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
        // All come from one address, whose attempts to sign in are limited.
        clock.advance(60_000);
        const context = await browser.newContext({ reducedMotion: "reduce", ...options });
        // A page that stays goes on listening and playing, which all tests after it pay for.
        onTestFinished(() => context.close());
        const page = await context.newPage();
        page.on("pageerror", (error) => dashboard.faults.push(String(error)));
        page.on("console", (message) => {
          // Chromium writes refused requests there too; that they are refused is what some tests are about.
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

/** Creates the owner without the page, and no environment. */
export async function setUpOwner({ service }: Dashboard): Promise<void> {
  const { operators } = service.parts;
  const token = (await operators.newSetUpToken())!;
  await operators.setUp(token, { name: "Olive Owner", ...OWNER }, async () => {});
}

/** Opens the set-up link and fills the page in. */
export async function setUpBy(page: Page, { service, url }: Dashboard): Promise<void> {
  await page.goto(`${url}/set-up#${await service.parts.operators.newSetUpToken()}`);
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
