import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, LaunchOptions, Page } from "playwright-core";
import { startChromium } from "../../captions/test/chromium.ts";
import { readConfig } from "../../server/src/config/config.ts";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { openService, type Service } from "../../server/src/main.ts";
import { createLog } from "../../server/src/telemetry/log.ts";
import { freePort } from "../../server/test/support/free-port.ts";
import { buildDashboard } from "./build-dashboard.ts";

const OWNER = { name: "Olive Owner", email: "olive@subtext.example", password: "a long enough password" };

export interface MeasuredDashboard {
  service: Service;
  browser: Browser;
  url: string;
  environmentId: string;
  /** A build of the current sources. */
  folder: string;
  signIn(page: Page): Promise<void>;
}

/** Runs a benchmark against a new service with one environment, the current dashboard and a real browser. */
export async function withDashboard(
  measure: (dashboard: MeasuredDashboard) => Promise<void>,
  env: Record<string, string> = {},
  browserOptions: LaunchOptions = {},
): Promise<void> {
  const folder = await buildDashboard();
  const dataFolder = await mkdtemp(join(tmpdir(), "subtext-measured-"));
  const config = readConfig({
    DATA_DIR: dataFolder,
    PORT: String(await freePort()),
    MODEL_DOWNLOAD: "off",
    LOG_LEVEL: "warn",
    ...env,
  });
  const service = await openService({ config, log: createLog("silent"), dashboardFolder: folder });
  const browser = await startChromium(browserOptions);
  try {
    await service.start();
    const { operators, database, clock } = service.parts;
    await operators.setUp((await operators.newSetupToken())!, OWNER, async () => {});
    const environment = { name: "Production", aiTranscription: true };
    const { id } = await createEnvironment({ db: database.kysely, clock }, environment);
    const url = config.publicUrl;
    const signIn = async (page: Page) => {
      await page.goto(`${url}/sign-in`);
      await page.getByLabel("Email").fill(OWNER.email);
      await page.getByLabel("Password").fill(OWNER.password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
    };
    await measure({ service, browser, url, environmentId: id, folder, signIn });
  } finally {
    await browser.close();
    await service.stop();
    for (const temporary of [dataFolder, folder]) await rm(temporary, { recursive: true, force: true });
  }
}
