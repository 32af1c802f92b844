import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { startChromium } from "../../../captions/test/chromium.ts";
import { readConfig } from "../../../server/src/config/config.ts";
import { createEnvironment } from "../../../server/src/environments/environments.ts";
import { openService, type Service } from "../../../server/src/main.ts";
import { createLog } from "../../../server/src/telemetry/log.ts";
import { freePort } from "../../../server/test/support/free-port.ts";
import { buildDashboard } from "../build-dashboard.ts";
import { seedAudit } from "./audit.ts";
import { LOCAL_WEBHOOKS, makeIntegrations, nameEndpoint } from "./integrations.ts";
import { seedBulkOperation, seedDay, seedShowcase } from "./seed.ts";
import { transcribeSample } from "./transcribe-sample.ts";

const USAGE = `npm run screenshots -- <folder> [name…]

Takes screenshots of every page, or of the named ones, in both themes, on a desktop and on a phone, with sample data.
The name "readme" updates the images of the README in docs/images.`;

const OWNER = { name: "Olive Owner", email: "olive@subtext.example", password: "a long enough password" };
const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
};

const README_SHOTS = [
  { name: "videos", colorScheme: "light" },
  { name: "video", colorScheme: "dark" },
] as const;
const WEBP_QUALITY = 0.8;
const PLAYED_FROM_SECONDS = 22;
const README_FOLDER = join(import.meta.dirname, "../../../docs/images");

/** On touch screens, a dialog with an input field is transparent until the keyboard has had time to open. */
const DIALOG_SHOWN = `new Promise((done) => {
  const isShown = (dialog) => dialog.checkVisibility({ opacityProperty: true });
  const look = () =>
    [...document.querySelectorAll("[role=dialog]")].every(isShown) ? done() : requestAnimationFrame(look);
  look();
})`;

interface Shot {
  name: string;
  path: string;
  /** Resolves when the page has loaded, or after the shot's dialog was opened. */
  ready(page: Page): Promise<unknown>;
  signedOut?: boolean;
  /** Shows only what fits the window, for dialogs and long lists. */
  isWindow?: boolean;
}

const [folder, ...names] = process.argv.slice(2);
if (folder === undefined) {
  console.error(USAGE);
  process.exit(2);
}

const dashboardFolder = await buildDashboard();
const dataFolder = await mkdtemp(join(tmpdir(), "subtext-screenshots-"));
const config = readConfig({
  DATA_DIR: dataFolder,
  PORT: String(await freePort()),
  MODEL_DOWNLOAD: "off",
  LOG_LEVEL: "warn",
  ...LOCAL_WEBHOOKS,
});
const log = createLog("silent");
await mkdir(folder, { recursive: true });
const browser = await startChromium();
let service = await openService({ config, log, dashboardFolder });
try {
  await service.start();
  const setupToken = await service.parts.operators.newSetupToken();
  const deps = { db: service.parts.database.kysely, clock: service.parts.clock };
  const production = await createEnvironment(deps, { name: "Production", aiTranscription: true });
  const archive = await createEnvironment(deps, { name: "Archive", aiTranscription: true });
  const empty = await createEnvironment(deps, { name: "Staging", aiTranscription: false });
  await takeScreenshots(
    [{ name: "setup", path: `/setup#${setupToken}`, ready: heading("Set up Subtext"), signedOut: true }],
    null,
  );
  await setUp(service, setupToken!);
  const integrations = await makeIntegrations(service, production.id);
  const sampleVideoId = await transcribeSample(service, production.id);
  await nameEndpoint(service, integrations.endpointId);
  await posterMade(service, sampleVideoId);
  integrations.stop();
  await service.stop();

  // Restart without workers, so that queued videos stay queued.
  service = await openService({ config, log, dashboardFolder });
  await seedDay(service, archive.id);
  await seedBulkOperation(service, archive.id);
  await seedShowcase(service, browser, production.id, sampleVideoId);
  await seedAudit(service, production);
  await service.parts.app.listen({ host: config.host, port: config.port });
  const at = (environmentId: string, rest: string) => `/environments/${environmentId}${rest}`;
  const shots: Shot[] = [
    { name: "sign-in", path: "/sign-in", ready: heading("Sign in"), signedOut: true },
    { name: "videos", path: at(production.id, "/videos"), ready: text("Field recording 014.mp4") },
    { name: "videos-empty", path: at(empty.id, "/videos"), ready: text("No videos yet") },
    {
      name: "videos-no-results",
      path: at(production.id, "/videos?q=offsite"),
      ready: text("Clear filters"),
    },
    {
      name: "videos-bulk",
      path: at(archive.id, "/videos"),
      isWindow: true,
      async ready(page) {
        await text("120 of 180")(page);
        for (const box of [1, 2, 4]) await page.getByRole("checkbox").nth(box).check();
        await text("3 selected")(page);
      },
    },
    {
      name: "command-palette",
      path: at(production.id, "/videos"),
      isWindow: true,
      async ready(page) {
        await text("Field recording 014.mp4")(page);
        await page.keyboard.press("Control+K");
        await page.getByRole("dialog").getByRole("combobox").fill("re");
        await page.getByRole("option").filter({ hasText: "Design review" }).waitFor();
      },
    },
    {
      name: "video",
      path: at(production.id, `/videos/${sampleVideoId}?t=${PLAYED_FROM_SECONDS}`),
      ready: playing,
    },
    {
      name: "video-editor",
      path: at(production.id, `/videos/${sampleVideoId}`),
      isWindow: true,
      async ready(page) {
        await page.getByRole("button", { name: "Edit", exact: true }).click();
        await page.getByRole("button", { name: "Review next" }).click();
        await text("confidence")(page);
      },
    },
    {
      name: "video-delete",
      path: at(production.id, `/videos/${sampleVideoId}`),
      isWindow: true,
      async ready(page) {
        await page.getByRole("button", { name: "Delete", exact: true }).click();
        await page.getByRole("dialog").waitFor();
      },
    },
    { name: "api-keys-empty", path: at(empty.id, "/api-keys"), ready: text("No API keys yet") },
    { name: "webhooks-empty", path: at(empty.id, "/webhooks"), ready: text("No endpoints yet") },
    { name: "search-empty", path: at(empty.id, "/search?q=captions"), ready: text("No results for") },
    { name: "api-keys", path: at(production.id, "/api-keys"), ready: text("Uploader") },
    { name: "webhooks", path: at(production.id, "/webhooks"), ready: text("hooks.nordwind.example") },
    {
      name: "webhook-endpoint",
      path: at(production.id, `/webhooks/${integrations.endpointId}`),
      ready: text("Delivered"),
    },
    {
      name: "search",
      path: at(production.id, "/search?q=captions"),
      ready: text("Welcome to Subtext.mp4"),
    },
    { name: "settings", path: at(production.id, "/settings"), ready: heading("Settings") },
    { name: "system", path: "/system", ready: text("Data folder") },
    { name: "operators", path: "/operators", ready: text(OWNER.email) },
    { name: "audit", path: "/audit", ready: text("Service set up") },
    { name: "account", path: "/account", ready: text("This device") },
    { name: "not-found", path: at(production.id, "/nothing"), ready: heading("Page not found") },
  ];
  await takeScreenshots(shots, OWNER);
  if (names.includes("readme")) await takeReadmeScreenshots(shots);
} finally {
  await browser.close();
  await service.stop();
  for (const temporary of [dataFolder, dashboardFolder])
    await rm(temporary, { recursive: true, force: true });
}

async function posterMade({ parts }: Service, videoId: string): Promise<void> {
  const made = () =>
    parts.database.kysely
      .selectFrom("transcription")
      .select("id")
      .where("video_id", "=", videoId)
      .where("poster_ended_at", "is not", null)
      .execute();
  while ((await made()).length === 0) await setTimeout(200);
}

/** Seeks into the video and waits until the player's controls are hidden and a word is highlighted. */
async function playing(page: Page): Promise<void> {
  await text("Highlight low-confidence words")(page);
  await page.evaluate(`(async () => {
    const video = document.querySelector("video");
    const isLit = () => (CSS.highlights.get("subtext-active")?.size ?? 0) > 0;
    // Chromium may block autoplay after a reload.
    await video.play();
    const until = performance.now() + 60_000;
    while (video.currentTime < ${PLAYED_FROM_SECONDS + 4} || !isLit()) {
      if (performance.now() > until) throw new Error("the video does not play");
      await new Promise(requestAnimationFrame);
    }
  })()`);
}

function heading(name: string) {
  return (page: Page) => page.getByRole("heading", { level: 1, name }).waitFor();
}

function text(words: string) {
  return (page: Page) => page.getByText(words).filter({ visible: true }).first().waitFor();
}

async function takeScreenshots(shots: Shot[], owner: typeof OWNER | null): Promise<void> {
  const selected = shots.filter(({ name }) => names.length === 0 || names.includes(name));
  if (selected.length === 0) return;
  for (const [size, options] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"] as const) {
      const open = async () => {
        const contextOptions = {
          ...options,
          colorScheme,
          deviceScaleFactor: 2,
          reducedMotion: "reduce" as const,
        };
        const context = await (browser as Browser).newContext({
          ...contextOptions,
          baseURL: config.publicUrl,
        });
        return { context, page: await context.newPage() };
      };
      const signedOut = await open();
      const signedIn = await open();
      if (owner) await signIn(signedIn.page, owner);
      for (const { name, path, ready, isWindow, ...shot } of selected) {
        const { page } = shot.signedOut ? signedOut : signedIn;
        await page.goto(path);
        // `goto` does not load a page if only the fragment of its address changes.
        await page.reload();
        await ready(page).catch((error) =>
          console.error(`${name}, ${size}: ${String(error).split("\n")[0]}`),
        );
        const file = join(resolve(folder!), `${name}-${size}-${colorScheme}.png`);
        // A viewport as tall as the page keeps sticky elements in position.
        const height = await page.evaluate("document.documentElement.scrollHeight");
        if (!isWindow) await page.setViewportSize({ width: options.viewport.width, height: Number(height) });
        await page.evaluate(DIALOG_SHOWN);
        await page.screenshot({ path: file });
        await page.setViewportSize(options.viewport);
      }
      await signedOut.context.close();
      await signedIn.context.close();
    }
  }
}

/** Takes screenshots of one viewport. Chromium encodes them as WebP. */
async function takeReadmeScreenshots(shots: Shot[]): Promise<void> {
  for (const { name, colorScheme } of README_SHOTS) {
    const { path, ready } = shots.find((shot) => shot.name === name)!;
    const context = await browser.newContext({
      ...SIZES.desktop,
      colorScheme,
      deviceScaleFactor: 2,
      reducedMotion: "reduce",
      baseURL: config.publicUrl,
    });
    const page = await context.newPage();
    await signIn(page, OWNER);
    await page.goto(path);
    await ready(page);
    const picture = (await page.screenshot()).toString("base64");
    await page.goto("about:blank");
    const webp = await page.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob("${picture}"), (character) => character.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      canvas.getContext("2d").drawImage(bitmap, 0, 0);
      const blob = await canvas.convertToBlob({ type: "image/webp", quality: ${WEBP_QUALITY} });
      return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (each) => String.fromCharCode(each)).join(""));
    })()`);
    await mkdir(README_FOLDER, { recursive: true });
    await writeFile(join(README_FOLDER, `${name}.webp`), Buffer.from(String(webp), "base64"));
    await context.close();
  }
}

async function setUp({ parts }: Service, token: string): Promise<void> {
  await parts.operators.setUp(token, OWNER, async () => {});
}

async function signIn(page: Page, { email, password }: typeof OWNER): Promise<void> {
  await page.goto("/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
}
