import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createApiKey } from "../../server/src/api-keys/api-keys.ts";
import { seedSearchable } from "../../server/test/support/seed-transcript.ts";
import { type TestService, until, upload } from "../../server/test/support/service.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const dashboard = openDashboard();
const SAMPLE = join(import.meta.dirname, "../../demo/sample/sample.mp4");

const field = (page: Page) => page.getByRole("searchbox", { name: "Search all transcripts" });
const results = (page: Page) => page.getByRole("article").getByRole("listitem").getByRole("link");

async function environmentId(): Promise<string> {
  const db = dashboard.service.parts.database.kysely;
  return (await db.selectFrom("environment").select("id").executeTakeFirstOrThrow()).id;
}

test("spoken words are found while typing, and playback starts there", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  const { database, clock } = dashboard.service.parts;
  const db = database.kysely;
  const { key } = await createApiKey(
    { db, clock },
    {
      environmentId: await environmentId(),
      name: "upload",
      permissions: ["get_video", "create_video"],
      expiresAt: null,
    },
  );
  const tenant = { environmentId: await environmentId(), key };
  const metadata = { filename: "sample.mp4" };
  await upload({ url: dashboard.url } as TestService, tenant, readFileSync(SAMPLE), { metadata });
  await until(async () => {
    const rows = await db.selectFrom("search_document").select("indexed_at").execute();
    return rows.length > 0 && rows.every(({ indexed_at }) => indexed_at !== null);
  });

  await page.keyboard.press("/");
  await field(page).waitFor();
  await field(page).and(page.locator(":focus")).waitFor();
  await page.keyboard.type(SAID.slice(0, 4));
  await results(page).first().waitFor();
  await page.keyboard.type(SAID.slice(4));
  await page.waitForURL(`**/search?q=${SAID}`);
  await page.getByText("1 match in 1 video").waitFor();
  expect(await page.locator("mark").allTextContents()).toEqual([SAID]);

  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/videos\/video_\w+\?t=/);
  const start = Number(new URL(page.url()).searchParams.get("t"));
  expect(start).toBeGreaterThan(0);
  const position = () => page.evaluate<number>("document.querySelector('video')?.currentTime ?? -1");
  await until(async () => (await position()) >= start - 0.05);

  await page.goBack();
  await results(page).first().waitFor();
  expect(await field(page).inputValue()).toBe(SAID);
  await page.getByRole("button", { name: "Clear search" }).click();
  await page.waitForURL(/\/search$/);
}, 120_000);

test("results are usable with the keyboard, in any language and script", async () => {
  const id = await environmentId();
  const { service, url } = dashboard;
  for (const [language, filename, text] of TRANSCRIPTS) {
    await seedSearchable(service, { environmentId: id, language, filename, text });
  }
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.keyboard.press("/");
  await field(page).fill("cafe");
  await page.getByText("2 matches in 2 videos").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  expect((await page.locator("mark").allTextContents()).toSorted()).toEqual(["café", "cafés"]);
  await page.getByLabel("Language").selectOption({ label: "French" });
  await page.getByText("1 match in 1 video").waitFor();

  await field(page).press("ControlOrMeta+a");
  await page.keyboard.type("ميزانية");
  await page.getByLabel("Language").selectOption({ label: "All languages" });
  await page.getByText("2 matches in 1 video").waitFor();
  expect(await page.locator("[lang=ar]").first().getAttribute("dir")).toBe("auto");

  await field(page).press("ControlOrMeta+a");
  await page.keyboard.type("quarterly");
  await page.getByText("41 matches in 2 videos").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await field(page).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("Find spoken words").waitFor();
  expect(new URL(page.url()).search).not.toContain("q=");
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.goto(`${url}/environments/${id}/search?q=2026`);
  await page.getByText("No results for “2026”").waitFor();
  expect(await field(page).inputValue()).toBe("2026");
  expect(await accessibilityViolations(page)).toEqual([]);
  for (const [q, answer] of HOPELESS) {
    await field(page).fill(q);
    await page.getByText(answer).waitFor();
  }
  await page.context().setOffline(true);
  await field(page).fill("unreachable");
  await page.getByRole("alert").getByText("Can't reach the server").waitFor();
}, 60_000);

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});

const SAID = "listened";
const TRANSCRIPTS = [
  ["en", "Quarterly review.mp4", "The quarterly numbers are good. ".repeat(40).trim()],
  [
    "en",
    "A very long file name that somebody gave to a recording of a meeting on the terrace, final, really.mp4",
    "We met at the café near the harbour, where quarterly planning always ends up, and spoke about everything that had been left open for so long. Then we left.",
  ],
  ["fr", "Entretien.mp4", "Les cafés du quartier étaient fermés. Nous avons marché."],
  ["ar", "اجتماع.mp4", "ناقشنا الميزانية الجديدة اليوم. وافقنا على ميزانية السنة القادمة."],
  ["ja", "会議.mp4", "来年の予算について話しました。それから東京都に行きました。"],
] as const;
const HOPELESS = [
  ["-budget", "Add at least one word"],
  ["??", "Search for letters or numbers"],
] as const;
