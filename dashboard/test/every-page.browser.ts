import { PAGE_PATHS } from "@subtext/server/admin/contract/pages";
import type { Page, Request } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { routerPaths } from "./router-paths.ts";
import { LOCAL_WEBHOOKS, makeIntegrations } from "./screenshots/integrations.ts";
import { transcribeSample } from "./screenshots/transcribe-sample.ts";
import { seedEveryState } from "./seed-videos.ts";

const dashboard = openDashboard(LOCAL_WEBHOOKS);
let environmentId: string;

interface Visit {
  /** Path of the route, with parameters. */
  route: string;
  path: string;
  title: string;
  /** Text that is visible once the page has loaded. */
  shows: string;
  /** The same in German, if `shows` is a text of the dashboard. */
  showsInGerman?: string;
}

let visits: Visit[] = [];

test("every page shows its title and content", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  environmentId = /environments\/(\w+)/.exec(page.url())?.[1] ?? "";
  const { endpointId, stop } = await makeIntegrations(dashboard.service, environmentId);
  onTestFinished(stop);
  const videoId = await transcribeSample(dashboard.service, environmentId);
  await seedEveryState(dashboard.service, environmentId);
  const environmentPath = (rest: string) => `/environments/${environmentId}${rest}`;
  const environmentRoute = (rest: string) => `/environments/$environmentId${rest}`;
  visits = [
    {
      route: "/setup",
      path: "/setup",
      title: "All set up",
      shows: "Subtext is already set up",
      showsInGerman: "Subtext ist bereits eingerichtet",
    },
    {
      route: "/join",
      path: "/join",
      title: "Join Subtext",
      shows: "This invitation link is incomplete",
      showsInGerman: "Dieser Einladungslink ist unvollständig",
    },
    { route: "/sign-in", path: "/sign-in", title: "Sign in", shows: "Password", showsInGerman: "Passwort" },
    { route: "/", path: "/", title: "Videos", shows: "customer call" },
    {
      route: environmentRoute("/videos"),
      path: environmentPath("/videos"),
      title: "Videos",
      shows: "customer call",
    },
    {
      route: environmentRoute("/videos/$videoId"),
      path: environmentPath(`/videos/${videoId}`),
      title: "Welcome to Subtext.mp4",
      shows: "Highlight low-confidence words",
      showsInGerman: "Unsichere Wörter hervorheben",
    },
    {
      route: environmentRoute("/search"),
      path: environmentPath("/search?q=captions"),
      title: "Search",
      shows: "Welcome to Subtext.mp4",
    },
    {
      route: environmentRoute("/api-keys"),
      path: environmentPath("/api-keys"),
      title: "API keys",
      shows: "Uploader",
    },
    {
      route: environmentRoute("/webhooks"),
      path: environmentPath("/webhooks"),
      title: "Webhooks",
      shows: "127.0.0.1",
    },
    {
      route: environmentRoute("/webhooks/$endpointId"),
      path: environmentPath(`/webhooks/${endpointId}`),
      title: "Webhook endpoint",
      shows: "Deliveries",
      showsInGerman: "Zustellungen",
    },
    {
      route: environmentRoute("/settings"),
      path: environmentPath("/settings"),
      title: "Settings",
      shows: "Transcribe new uploads",
      showsInGerman: "Neue Uploads transkribieren",
    },
    {
      route: "/system",
      path: "/system",
      title: "System",
      shows: "Data folder",
      showsInGerman: "Datenordner",
    },
    {
      route: "/audit",
      path: "/audit",
      title: "Audit log",
      shows: "Service set up",
      showsInGerman: "Dienst eingerichtet",
    },
    { route: "/operators", path: "/operators", title: "Operators", shows: "olive@" },
    {
      route: "/account",
      path: "/account",
      title: "Account",
      shows: "This device",
      showsInGerman: "Dieses Gerät",
    },
  ];
}, 120_000);

test("this test visits every route of the router, and the server serves it", async () => {
  const routes = await routerPaths();
  expect(visits.map(({ route }) => route).sort()).toEqual(routes);
  const served = PAGE_PATHS.map((path) => new RegExp(`^${path.replace("*", ".+")}$`));
  expect(routes.filter((route) => !served.some((pattern) => pattern.test(route)))).toEqual([]);
});

const HAS_NARROW_FIELD = `[...document.querySelectorAll("input[type=text], input[type=search]")]
  .some(({ offsetWidth }) => offsetWidth > 0 && offsetWidth < 120)`;

test("every page is in German for a German browser, and fits a narrow phone", async () => {
  const { page } = await dashboard.visit({ locale: "de-DE", viewport: { width: 360, height: 740 } });
  const faults: string[] = [];
  await page.goto(`${dashboard.url}/sign-in`);
  await page.getByLabel("E-Mail").fill(OWNER.email);
  await page.getByLabel("Passwort").fill("not the password");
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByText("E-Mail oder Passwort ist falsch.").waitFor();
  await page.getByLabel("Passwort").fill(OWNER.password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  for (const { path, shows, showsInGerman = shows } of visits) {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByText(showsInGerman).filter({ visible: true }).first().waitFor();
    const found = await englishTexts(page);
    if (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) found.push("too wide");
    if (await page.evaluate(HAS_NARROW_FIELD)) found.push("a field is too narrow");
    faults.push(...found.map((fault) => `${path}: ${fault}`));
  }
  expect(faults).toEqual([]);

  await page.goto(`${dashboard.url}/system`);
  await page
    .getByText(/\d,\d\sGB/)
    .first()
    .waitFor();
  expect(await page.evaluate("document.documentElement.lang")).toBe("de-DE");
  await page.goto(`${dashboard.url}/audit`);
  await page
    .getByText(/^\d\d\.\d\d\.\d{4}, \d\d:\d\d$/)
    .first()
    .waitFor();

  await page.goto(`${dashboard.url}/account`);
  await page.getByRole("combobox", { name: "Sprache" }).selectOption("English");
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  expect(await page.evaluate("document.documentElement.lang")).toBe("en");
}, 120_000);

test("every page loads only from its own origin, under a policy that allows nothing inline", async () => {
  const { page } = await dashboard.visit();
  const foreign: string[] = [];
  page.on("request", (request: Request) => {
    if (!request.url().startsWith(`${dashboard.url}/`)) foreign.push(request.url());
  });
  await signIn(page, dashboard, OWNER);
  for (const visit of visits) {
    const answered = page.waitForResponse((response) => response.request().resourceType() === "document");
    await open(page, visit);
    const policy = (await answered).headers()["content-security-policy"] ?? "";
    expect(policy, visit.path).toContain("default-src 'none'");
    expect(policy, visit.path).not.toMatch(/unsafe|\*|https?:/);
    const inline = await page.evaluate(
      `[...document.querySelectorAll("style, script:not([src])")].map(({ outerHTML }) => outerHTML)`,
    );
    expect(inline, visit.path).toEqual([]);
  }
  expect(foreign).toEqual([]);
});

test("following a link sets the document's title and focuses the page's heading", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  for (const name of ["Operators", "System", "Account", "Settings", "Videos"]) {
    await page.getByRole("link", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await expect.poll(() => page.title()).toBe(`${name} · Subtext`);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe(name);
  }
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.id")).toBe("main");
});

test("a dark page is dark before the application has loaded", async () => {
  const { page } = await dashboard.visit({ colorScheme: "light" });
  await signIn(page, dashboard, OWNER);
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  await page.route(/\/assets\/index-.*\.js$/, (route) => route.abort());
  await page.reload();
  expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
  await page.locator("#root > .frame").waitFor();
});

test("the page reports a lost connection, and refreshes its data when the connection is back", async () => {
  const { page, context } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "System" }).click();
  await page.getByRole("region", { name: "Queue" }).waitFor();
  await context.setOffline(true);
  await page.getByText("Connection lost. Reconnecting… Data may be out of date.").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await context.setOffline(false);
  await page
    .getByText("Connection lost. Reconnecting… Data may be out of date.")
    .waitFor({ state: "detached" });
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors.filter((fault) => !fault.includes("net::ERR"))).toEqual([]);
});

/** Words that German texts do not contain. */
const ENGLISH_WORDS =
  "and|are|can|cannot|created|delete|edit|failed|for|from|has|have|is|keys|never|not|of|or|queue|search|settings|show|this|that|the|to|with|words|your|you";
/** File names of the samples. */
const SAMPLE_NAMES = /[\w ]+\.mp4/g;

/** Returns texts, labels and hints in English. Marked English, such as transcripts, and code are left out. */
async function englishTexts(page: Page): Promise<string[]> {
  const texts = (await page.evaluate(`
    (() => {
      const isLeftOut = (element) => element.closest("code, pre, noscript, script, style, [lang=en]") !== null;
      const texts = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        if (!isLeftOut(walker.currentNode.parentElement)) texts.push(walker.currentNode.data);
      }
      for (const element of document.querySelectorAll("[aria-label], [title], [placeholder], [alt]")) {
        if (isLeftOut(element)) continue;
        for (const name of ["aria-label", "title", "placeholder", "alt"]) texts.push(element.getAttribute(name) ?? "");
      }
      return texts;
    })()
  `)) as string[];
  const pattern = new RegExp(`\\b(${ENGLISH_WORDS})\\b`, "i");
  return [...new Set(texts.map((text) => text.replace(SAMPLE_NAMES, "").trim()))].filter((text) =>
    pattern.test(text),
  );
}

async function open(page: Page, { path, title, shows }: Visit): Promise<void> {
  await page.goto(`${dashboard.url}${path}`);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await page.getByText(shows).filter({ visible: true }).first().waitFor();
}
