import type { Page, Route } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { addOperator } from "../../server/test/admin/operator-requests.ts";
import { faultsOf, LOOKS, setLook } from "./look.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { holdData, isDataOf, OF_SHELL, type PageCase, seedPages } from "./page-states.ts";
import { routerPaths } from "./router-paths.ts";
import { untilTrue } from "./video-page.ts";

const dashboard = openDashboard();
/** Number of pages tested in parallel. Failing pages mostly wait, because failed requests are retried for 3 s. */
const TABS = { usual: 3, failing: 6 };
const SLOW = 600_000;
const CONNECTION_LOST = "Connection lost. Reconnecting… Data may be out of date.";
const PROBLEM = {
  type: "about:blank",
  title: "Error",
  status: 500,
  code: "internal_error",
  detail: "The disk is full.",
};
let pages: PageCase[] = [];
let emptyId: string;

type Check = (page: Page, faults: string[]) => Promise<void>;

test(
  "setup and a service without environments",
  async () => {
    const token = await dashboard.service.parts.operators.newSetupToken();
    const { page } = await dashboard.visit();
    const faults: string[] = [];
    await page.goto(`${dashboard.url}/setup#${token}`);
    await shows(page, "Set up Subtext", "Finish setup");
    await look(page, faults);
    await page.goto(`${dashboard.url}/setup`);
    await page.reload();
    await shows(page, "Set up Subtext", "Open the setup link");
    await look(page, faults);

    await createOwner(dashboard);
    const viewer = await addOperator(dashboard, { email: "vera@subtext.example", role: "viewer" });
    for (const [operator, title, text] of [
      [OWNER, "Create an environment", "Each environment has its own videos"],
      [viewer, "No environments yet", "Ask an owner"],
    ] as const) {
      const { page } = await dashboard.visit();
      await page.goto(`${dashboard.url}/sign-in`);
      await page.getByLabel("Email").fill(operator.email);
      await page.getByLabel("Password").fill(operator.password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await shows(page, title, text);
      await look(page, faults);
    }
    expect(faults).toEqual([]);
  },
  SLOW,
);

describe("with the data of two environments", () => {
  beforeAll(async () => {
    await createOwner(dashboard);
    ({ pages, emptyId } = await seedPages(dashboard));
  });

  test(
    "every page that loads slowly shows a skeleton under its title, then its data",
    async () => {
      // The previous test visited "/".
      const routes = new Set(["/", ...pages.flatMap(({ route }) => route ?? [])]);
      expect([...routes].sort()).toEqual(await routerPaths());
      const faults = await inTabs(
        OWNER,
        pages,
        ({ path, title, titleBeforeData = title, data, full }) =>
          async (page, faults) => {
            const release = await holdData(page, data);
            await page.goto(dashboard.url + path);
            if (titleBeforeData !== null) {
              await page.getByText("Loading…").first().waitFor();
              await page.getByRole("heading", { level: 1, name: data ? title : titleBeforeData }).waitFor();
              if ((await page.locator("[data-skeleton]").filter({ visible: true }).count()) === 0)
                faults.push("no skeleton");
              if (await page.evaluate(HAS_SPINNER)) faults.push("a spinner");
              await look(page, faults, "loading");
            }
            release();
            await shows(page, title, full);
            await page.getByText("Loading…").first().waitFor({ state: "detached" });
            await look(page, faults, "full");
            await page.unrouteAll();
          },
      );
      expect(faults).toEqual([]);
    },
    SLOW,
  );

  test(
    "every page whose data fails to load says why, and tries again",
    async () => {
      const loading = pages.filter(({ titleBeforeData }) => titleBeforeData !== null);
      const faults = await inTabs(
        OWNER,
        loading,
        ({ path, title, titleBeforeData = title, data, full }) =>
          async (page, faults) => {
            const fail = (route: Route) =>
              route.fulfill({ status: 500, contentType: "application/problem+json", json: PROBLEM });
            await page.route(isDataOf(data), fail);
            await page.goto(dashboard.url + path);
            await shows(page, data ? title : titleBeforeData!, PROBLEM.detail);
            await look(page, faults, "error");
            const tryAgain = page.getByRole("button", { name: "Try again" });
            await tryAgain.first().focus();
            await page.unrouteAll();
            await page.keyboard.press("Enter");
            // Pages that poll may have loaded one part before the key was pressed.
            for (let left = await tryAgain.count(); left > 0; left = await tryAgain.count()) {
              await tryAgain
                .first()
                .press("Enter", { timeout: 1_000 })
                .catch(() => {});
            }
            await shows(page, title, full);
            await page.getByText(PROBLEM.detail).first().waitFor({ state: "detached" });
            if (await page.evaluate("document.activeElement === document.body"))
              faults.push("the focus is lost");
          },
        TABS.failing,
      );
      expect(faults).toEqual([]);
    },
    SLOW,
  );

  test(
    "every page says that the server is unreachable, and recovers",
    async () => {
      const loading = pages.filter(({ titleBeforeData, data }) => titleBeforeData !== null && !data);
      const faults = await inTabs(
        OWNER,
        loading,
        ({ path, title, full, isSignedOut }) =>
          async (page, faults) => {
            const answered = new Set<string>();
            const fail = async (route: Route) => {
              const { pathname } = new URL(route.request().url());
              // The shell has loaded before the connection is lost.
              if (!OF_SHELL.test(pathname) || answered.has(pathname) || isSignedOut)
                return await route.abort();
              answered.add(pathname);
              await route.continue();
            };
            await page.route("**/internal/**", fail);
            await page.goto(dashboard.url + path);
            await page.getByText("Can't reach the server.").first().waitFor();
            if (!isSignedOut) await page.getByText(CONNECTION_LOST).waitFor();
            await look(page, faults, "unreachable", LOOKS.slice(1));
            await page.unrouteAll();
            if (isSignedOut) await page.getByRole("button", { name: "Try again" }).click();
            await shows(page, title, full);
            await page.getByText("Can't reach the server.").first().waitFor({ state: "detached" });
          },
        TABS.failing,
      );
      expect(faults).toEqual([]);
    },
    SLOW,
  );

  test(
    "if the operator or the environments cannot be loaded, the page says why, and tries again",
    async () => {
      const settings = pages.find(({ path }) => path.endsWith("/settings"))!;
      const requests = ["**/internal/me", "**/internal/environments"];
      const faults = await inTabs(OWNER, requests, (pattern) => async (page, faults) => {
        await page.route(pattern, (route) => route.fulfill({ status: 500, json: PROBLEM }));
        await page.goto(dashboard.url + settings.path);
        await shows(page, "Something went wrong", PROBLEM.detail);
        await look(page, faults, pattern);
        await page.unrouteAll();
        const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
        const { promise: isRequested, resolve: request } = Promise.withResolvers<void>();
        await page.route(pattern, async (route) => {
          request();
          await isReleased;
          await route.continue();
        });
        const tryAgain = page.getByRole("button", { name: "Try again" });
        await tryAgain.press("Enter");
        await isRequested;
        // The button keeps the focus and looks pending.
        const focused = "document.activeElement";
        await untilTrue(
          page,
          `${focused}.textContent === "Try again" && getComputedStyle(${focused}).cursor === "progress"`,
        );
        await look(page, faults, `${pattern} again`);
        release();
        await shows(page, settings.title, settings.full);
        await untilTrue(page, "document.activeElement !== document.body");
      });
      expect(faults).toEqual([]);
      // React logs the errors that routes throw.
      dashboard.errors.length = 0;
    },
    SLOW,
  );

  test(
    "every page of a new environment says what is missing",
    async () => {
      const empty = pages.filter((page) => page.empty);
      const faults = await inTabs(OWNER, empty, ({ path, title, empty }) => async (page, faults) => {
        await page.goto(dashboard.url + (empty!.path ?? path));
        await shows(page, empty!.title ?? title, empty!.text);
        await look(page, faults, "empty");
      });
      expect(faults).toEqual([]);
    },
    SLOW,
  );

  test(
    "every page that an operator may not see says so",
    async () => {
      const environments = [{ environment: emptyId, role: "editor" as const }];
      const editor = await addOperator(dashboard, { email: "eve@subtext.example", environments });
      const forbidden = pages.filter((page) => page.forbidden);
      const faults = await inTabs(editor, forbidden, ({ path, title, forbidden }) => async (page, faults) => {
        await page.goto(dashboard.url + (forbidden!.path ?? path));
        await shows(page, forbidden!.title ?? title, forbidden!.text);
        await look(page, faults, "forbidden");
      });
      expect(faults).toEqual([]);
    },
    SLOW,
  );
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors.filter((fault) => !fault.includes("net::ERR"))).toEqual([]);
});

/** Skeletons are not animated. Indeterminate progress bars count as spinners. */
const HAS_SPINNER = `(() => {
  const isEndless = (animation) => animation.effect.getComputedTiming().iterations === Infinity;
  return document.getAnimations().some(isEndless) || document.querySelector("progress:not([value])") !== null;
})()`;

/** Checks the cases in several tabs. Returns the failures, each with its path. */
async function inTabs<Case extends PageCase | string>(
  operator: { email: string; password: string },
  cases: readonly Case[],
  checkOf: (each: Case) => Check,
  tabs = TABS.usual,
): Promise<string[]> {
  const { page, context } = await dashboard.visit();
  context.setDefaultTimeout(60_000);
  await signIn(page, dashboard, operator);
  const all: string[] = [];
  const waiting = [...cases];
  const work = async (tab: Page) => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      const faults: string[] = [];
      const place = typeof each === "string" ? each : each.path;
      await checkOf(each)(tab, faults).catch(async (error) => {
        faults.push(
          `${String(error).split("\n")[0]}; the page shows: ${await tab.locator("body").innerText()}`,
        );
      });
      all.push(...faults.map((fault) => `${place}: ${fault}`));
      await tab.unrouteAll({ behavior: "ignoreErrors" });
    }
  };
  const others = await Promise.all(Array.from({ length: tabs - 1 }, () => dashboard.newTab(context)));
  await Promise.all([page, ...others].map(work));
  return all;
}

async function shows(page: Page, title: string, text: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}

async function look(page: Page, faults: string[], state = "full", looks = LOOKS): Promise<void> {
  for (const each of looks) {
    await setLook(page, each);
    faults.push(...(await faultsOf(page, each, state)));
  }
}
