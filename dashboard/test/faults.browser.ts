import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { startChromium } from "../../captions/test/chromium.ts";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const dashboard = openDashboard();
const CONNECTION_LOST = "Connection lost. Reconnecting… Data may be out of date.";
const STREAM = "**/videos/changes";

let environmentId: string;
const environmentPath = (path: string) => `/environments/${environmentId}${path}`;
const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

async function addVideo(filename: string): Promise<string> {
  const seed = { environmentId, language: "en", text: "Hello there.", filename };
  return (await seedTranscript(dashboard.service, seed)).videoId;
}

beforeAll(async () => {
  const { database, clock } = dashboard.service.parts;
  await createOwner(dashboard);
  const options = { name: "Production", aiTranscription: true };
  environmentId = (await createEnvironment({ db: database.kysely, clock }, options)).id;
});

test("a page that throws is named, and the rest of the dashboard keeps working", async () => {
  const videoId = await addVideo("thrown.mp4");
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  for (const { path, data, name, title } of [
    { path: environmentPath("/videos"), data: "/videos?", name: "Videos", title: "Videos" },
    {
      path: environmentPath(`/videos/${videoId}`),
      data: `/videos/${videoId}`,
      name: "Video",
      title: "thrown.mp4",
    },
    { path: "/system", data: "/system", name: "System", title: "System" },
    { path: "/audit", data: "/audit?", name: "Audit log", title: "Audit log" },
  ]) {
    // A response that the page cannot render.
    const isData = (url: URL) => url.pathname.startsWith("/internal/") && url.href.includes(data);
    await page.route(isData, (route) => route.fulfill({ json: {} }));
    await page.goto(`${dashboard.url}${path}`);
    await page.getByText(`The page “${name}” could not be shown.`).waitFor();
    expect(await page.getByRole("alert").textContent()).toMatch(/undefined|Invalid time value/);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.unroute(isData);
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  }
  // React logs the errors that pages throw.
  dashboard.errors.length = 0;
});

test("after a proxy's 502, live updates reconnect and show what happened in the meantime", async () => {
  const { page } = await dashboard.visit();
  let refused = 0;
  await page.route(STREAM, async (route) => {
    refused += 1;
    if (refused > 2) return await route.continue();
    await route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad Gateway</h1>" });
  });
  await signIn(page, dashboard, OWNER);
  await page.getByText(CONNECTION_LOST).waitFor();
  await addVideo("meanwhile.mp4");
  await page.getByText(CONNECTION_LOST).waitFor({ state: "detached" });
  await row(page, "meanwhile.mp4").waitFor();
  await addVideo("afterwards.mp4");
  await row(page, "afterwards.mp4").waitFor();
  expect(refused).toBe(3);
});

test("pages that the browser keeps to go back to hold no connections, and are updated again", async () => {
  const browser = await startChromium({ ignoreDefaultArgs: ["--disable-back-forward-cache"] });
  try {
    const page = await browser.newPage();
    await signIn(page, dashboard, OWNER);
    // More often than the number of connections that a browser opens to one server.
    for (let visit = 1; visit <= 8; visit++) {
      const order = visit % 2 === 0 ? "asc" : "desc";
      await page.goto(`${dashboard.url}${environmentPath("/videos")}?order=${order}`);
      await page.locator("a[data-video]").first().waitFor();
      await page.evaluate(`window.visit = ${visit}`);
    }
    await page.goBack({ waitUntil: "commit" });
    expect(await page.evaluate("window.visit")).toBe(7);
    await addVideo("after going back.mp4");
    await row(page, "after going back.mp4").waitFor();
  } finally {
    await browser.close();
  }
});

test("the page reports a lost connection while a proxy responds with 502, and recovers", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.goto(`${dashboard.url}/system`);
  await page.getByRole("region", { name: "Queue" }).waitFor();
  await page.route("**/internal/**", (route) => route.fulfill({ status: 502, body: "Bad Gateway" }));
  await page.getByText(CONNECTION_LOST).waitFor();
  await page.unroute("**/internal/**");
  await page.getByText(CONNECTION_LOST).waitFor({ state: "detached" });
});

test("after a sign-out in another tab, every page redirects to the sign-in as soon as it is visible", async () => {
  const videoId = await addVideo("private.mp4");
  for (const [path, title] of [
    [environmentPath("/videos"), "Videos"],
    [environmentPath(`/videos/${videoId}`), "private.mp4"],
    [environmentPath("/search?q=hello"), "Search"],
    [environmentPath("/api-keys"), "API keys"],
    [environmentPath("/webhooks"), "Webhooks"],
    [environmentPath("/settings"), "Settings"],
    ["/system", "System"],
    ["/operators", "Operators"],
    ["/audit", "Audit log"],
    ["/account", "Account"],
  ] as const) {
    const { page } = await dashboard.visit();
    await signIn(page, dashboard, OWNER);
    await page.goto(`${dashboard.url}${path}`);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    const status = await page.evaluate(`fetch("/internal/auth/sign-out", {
      method: "POST", headers: { "content-type": "application/json" }, body: "{}",
    }).then((response) => response.status)`);
    expect(status).toBe(200);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(new URL(page.url()).searchParams.get("next"), path).toBe(path);
  }
}, 120_000);

test("a page that loads slowly shows no error in the meantime, and no old data of another video", async () => {
  const first = await addVideo("first.mp4");
  const second = await addVideo("second.mp4");
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.goto(`${dashboard.url}${environmentPath(`/videos/${first}`)}`);
  await page.getByRole("heading", { level: 1, name: "first.mp4" }).waitFor();
  await page.route(`**/internal/**/videos/${second}**`, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole("link", { name: "Videos" }).first().click();
  await row(page, "second.mp4").getByRole("link").click();
  await page.getByRole("status").getByText("Loading…").waitFor();
  expect(await page.getByRole("heading", { name: "first.mp4" }).count()).toBe(0);
  expect(await page.getByRole("alert").count()).toBe(0);
  release();
  await page.getByRole("heading", { level: 1, name: "second.mp4" }).waitFor();
});

test("an environment or a video that does not exist is not found, on every page", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const unknown = "env_01h455vb4pex5vsknk084sn02q";
  for (const path of ["/videos", "/videos/video_1", "/search", "/api-keys", "/webhooks", "/settings"]) {
    await page.goto(`${dashboard.url}/environments/${unknown}${path}`);
    await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
  }
  await page.goto(`${dashboard.url}${environmentPath("/videos/video_1")}`);
  await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
