import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { faultsOf, LOOKS, setLook } from "./look.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { holdData, type PageCase, seedPages } from "./page-states.ts";

const dashboard = openDashboard();
const SLOW = 600_000;
const VIDEO = "board-meeting.mp4";
/** Core Web Vitals rates a cumulative layout shift of up to 0.1 as good. */
const MAX_LAYOUT_SHIFT = 0.02;
const STEADY = ["Videos", VIDEO, "API keys", "Webhooks", "Settings", "Operators"];

let pages: PageCase[];

beforeAll(async () => {
  await createOwner(dashboard);
  ({ pages } = await seedPages(dashboard));
});

const pathOf = (title: string) => dashboard.url + pages.find((page) => page.title === title)!.path;
const dialog = (page: Page) => page.getByRole("dialog");

for (const look of LOOKS) {
  test(
    `the editor and dialogs are accessible, fit the window and keep the focus: ${look.width} pixels`,
    async () => {
      const { page } = await dashboard.visit();
      const faults: string[] = [];
      await setLook(page, look);
      await signIn(page, dashboard, OWNER);
      const check = async (state: string) => faults.push(...(await faultsOf(page, look, state)));
      const close = async (state: string) => {
        await page.keyboard.press("Escape");
        await dialog(page).waitFor({ state: "detached" });
        await twoFrames(page);
        if (!(await hasFocus(page))) faults.push(`${state}: the focus is lost`);
      };

      await page.goto(pathOf(VIDEO));
      await page.getByRole("button", { name: "Edit" }).click();
      await page.getByRole("textbox", { name: "Paragraph at 0:00" }).waitFor();
      await page.getByRole("button", { name: "Review next" }).click();
      await page.getByRole("button", { name: "Confirm" }).waitFor();
      await check("editor");
      await page.getByRole("button", { name: "Find and replace" }).click();
      await page.getByLabel("Find", { exact: true }).fill("John");
      await page.getByLabel("Replace with").fill("Jon");
      await page.getByText("1 match").waitFor();
      await check("find and replace");
      await page.getByRole("button", { name: "Find and replace" }).click();

      await page.getByRole("button", { name: "Name the speaker" }).first().click();
      await dialog(page).getByLabel("Name").fill("Ada");
      await check("speaker");
      await close("speaker");

      const revisions = (url: URL) => url.pathname.endsWith("/revisions");
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(revisions, async (route) => {
        await released;
        const json = { status: 500, code: "internal_error", detail: "The disk is full." };
        await route.fulfill({ status: 500, json });
      });
      await page.getByRole("button", { name: "Revisions" }).click();
      await dialog(page).getByText("Loading…").waitFor();
      await check("revisions, loading");
      release();
      await dialog(page).getByText("The disk is full.").waitFor();
      await check("revisions, error");
      await page.unrouteAll();
      await dialog(page).getByRole("button", { name: "Try again" }).press("Enter");
      await dialog(page).getByRole("button", { name: "Original transcript" }).click();
      await dialog(page).getByText("before any corrections").waitFor();
      await check("revisions");
      await close("revisions");

      await page.goto(pathOf(VIDEO));
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByLabel(`Type ${VIDEO} to confirm`).waitFor();
      await check("typed confirmation");
      await close("typed confirmation");
      await page.keyboard.press("Control+k");
      await dialog(page).getByRole("option").first().waitFor();
      await check("command palette");
      await close("command palette");
      await page.keyboard.press("?");
      await dialog(page).getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
      await check("keyboard shortcuts");
      await close("keyboard shortcuts");

      await page.goto(pathOf("Videos"));
      await page.getByRole("checkbox", { name: `Select ${VIDEO}` }).check();
      await page
        .getByRole("region", { name: "Selected videos" })
        .getByRole("button", { name: "Delete" })
        .click();
      await page.getByLabel("Type 1 to confirm").waitFor();
      await check("typed confirmation of a selection");
      await close("typed confirmation of a selection");

      await page.goto(pathOf("Settings"));
      await page.getByText("Transcribe new uploads").click();
      await page.getByRole("button", { name: "Undo" }).waitFor();
      await check("toast");
      await page.getByRole("button", { name: "Undo" }).press("Enter");
      await page.getByText("Change undone.").waitFor();
      expect(faults).toEqual([]);
    },
    SLOW,
  );
}

test(
  "with reduced motion, nothing moves",
  async () => {
    const moved: Record<string, string[]> = {};
    for (const reducedMotion of ["reduce", "no-preference"] as const) {
      const { page, context } = await dashboard.visit({ reducedMotion });
      await context.addInitScript(RECORD_MOTION);
      const motions = new Set<string>();
      const collect = async () => {
        for (const motion of await page.evaluate<string[]>("[...window.motions]")) motions.add(motion);
      };
      await signIn(page, dashboard, OWNER);
      await page.getByText("Processing").filter({ visible: true }).first().waitFor();
      await page.getByRole("button", { name: "Upload videos" }).hover();
      await page.keyboard.press("Control+k");
      await dialog(page).getByRole("option").first().waitFor();
      await collect();
      await page.goto(pathOf(VIDEO));
      await page.getByRole("button", { name: "Delete" }).click();
      await dialog(page).waitFor();
      await collect();
      await page.goto(pathOf("Settings"));
      await page.getByText("Transcribe new uploads").click();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Change undone.").waitFor();
      await collect();
      moved[reducedMotion] = [...motions];
    }
    expect(moved.reduce).toEqual([]);
    // Shows that the recorder detects motion.
    expect(moved["no-preference"]!.length).toBeGreaterThanOrEqual(3);
  },
  SLOW,
);

test(
  "pages that load slowly do not shift their layout",
  async () => {
    const shifts: string[] = [];
    for (const width of [1280, 360]) {
      const { page, context } = await dashboard.visit({ viewport: { width, height: 800 } });
      await context.addInitScript(RECORD_SHIFTS);
      await signIn(page, dashboard, OWNER);
      for (const { path, title, data, full, isSignedOut } of pages) {
        if (isSignedOut || data || !STEADY.includes(title)) continue;
        const release = await holdData(page, data);
        await page.goto(dashboard.url + path);
        await page.getByText("Loading…").or(page.getByText(full)).first().waitFor();
        release();
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        await page.getByText(full).filter({ visible: true }).first().waitFor();
        await page.getByText("Loading…").first().waitFor({ state: "detached" });
        // The entries of the last frame arrive with the next one.
        await twoFrames(page);
        const { score, sources } = await page.evaluate<{ score: number; sources: string[] }>("window.shifts");
        if (score >= MAX_LAYOUT_SHIFT)
          shifts.push(`${path}, ${width}: ${score.toFixed(3)} ${sources.join(" ")}`);
        await page.unrouteAll();
      }
    }
    expect(shifts).toEqual([]);
  },
  SLOW,
);

test(
  "a word is corrected with the keyboard alone, and the focus is always visible",
  async () => {
    const { page } = await dashboard.visit();
    await signIn(page, dashboard, OWNER);
    const lost: string[] = [];
    const press = async (...keys: string[]) => {
      for (const key of keys) {
        await page.keyboard.press(key);
        // A closed dialog returns the focus in the next frame.
        await twoFrames(page);
        const state = await page.evaluate<string>(FOCUS_STATE);
        if (state !== "visible") lost.push(`after ${key} on ${new URL(page.url()).pathname}: ${state}`);
      }
    };
    /** Presses Tab until an element with this name has the focus. */
    const tabTo = async (name: string | RegExp) => {
      const wanted = page
        .getByRole("button", { name })
        .or(page.getByRole("link", { name }))
        .and(page.locator(":focus"));
      for (let presses = 0; presses < 60; presses++) {
        if ((await wanted.count()) > 0) return;
        await press("Tab");
      }
      throw new Error(`Tab does not reach ${name}`);
    };

    await tabTo(VIDEO);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: VIDEO }).waitFor();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await tabTo("Edit");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Paragraph at 0:00" }).waitFor();
    // Selects the first low-confidence word.
    await press("Alt+ArrowDown");
    await page.keyboard.type("Joan");
    await press("Control+s");
    await page.locator("[data-state=saved]").waitFor();
    for (let presses = 0; presses < 10; presses++) {
      if ((await page.getByRole("button", { name: "Revisions" }).and(page.locator(":focus")).count()) > 0)
        break;
      await press("Shift+Tab");
    }
    await page.keyboard.press("Enter");
    await dialog(page).getByRole("button", { name: OWNER_NAME }).waitFor();
    await tabTo(new RegExp(OWNER_NAME));
    await press("Enter");
    await dialog(page).locator("ins").getByText("Joan").waitFor();
    await press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Revisions" }).and(page.locator(":focus")).waitFor();
    await tabTo("Done");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await page.getByText("We asked Joan about").waitFor();
    await expect.poll(() => hasFocus(page)).toBe(true);
    expect(lost).toEqual([]);
  },
  SLOW,
);

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});

const OWNER_NAME = "Olive Owner";

async function twoFrames(page: Page): Promise<void> {
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

async function hasFocus(page: Page): Promise<boolean> {
  return await page.evaluate("document.activeElement !== document.body && document.activeElement !== null");
}

/** Whether the focused element is on the screen and has an outline, or is text that shows the caret. */
const FOCUS_STATE = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return "no focus";
  const { top, bottom, width, height } = element.getBoundingClientRect();
  if (width === 0 || height === 0 || bottom <= 0 || top >= innerHeight) return element.outerHTML.slice(0, 200) + " is not on the screen";
  const hasOutline = (each) => { const style = getComputedStyle(each); return style.outlineStyle !== "none" && style.outlineWidth !== "0px"; };
  const label = element.labels?.[0];
  // Switches and radio buttons are drawn by their label.
  const drawn = [element, ...(label ? [label, ...label.querySelectorAll("*")] : [])];
  // Search fields are drawn by their parent, and the controls of the player by the browser.
  drawn.push(element.parentElement);
  return element.isContentEditable || element.localName === "video" || drawn.some(hasOutline) ? "visible" : element.outerHTML.slice(0, 200) + " has no outline";
})()`;

/** Collects the names of animations and transitions that last longer than a frame. */
const RECORD_MOTION = `
  window.motions = new Set();
  const record = () => {
    for (const animation of document.getAnimations()) {
      const { activeDuration } = animation.effect.getComputedTiming();
      if (activeDuration > 1) window.motions.add(animation.animationName ?? animation.transitionProperty);
    }
  };
  for (const type of ["animationstart", "transitionrun"]) addEventListener(type, record, true);
`;

const RECORD_SHIFTS = `
  window.shifts = { score: 0, sources: [] };
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      window.shifts.score += value;
      for (const { node } of sources) window.shifts.sources.push((node?.parentElement ?? node)?.outerHTML?.slice(0, 150) ?? "?");
    }
  }).observe({ type: "layout-shift", buffered: true });
`;
