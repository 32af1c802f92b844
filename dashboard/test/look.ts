import type { Page } from "playwright-core";
import { accessibilityViolations } from "./accessibility.ts";

export interface Look {
  width: number;
  colorScheme: "light" | "dark";
}

export const LOOKS: readonly Look[] = [
  { width: 1280, colorScheme: "light" },
  { width: 360, colorScheme: "dark" },
];

export async function setLook(page: Page, { width, colorScheme }: Look): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme });
}

/** The right edge of the page or, if one is open, of a dialog, which the width of the page does not include. */
const RIGHT_EDGE = `(() => {
  const dialog = document.querySelector("[role=dialog]");
  const right = dialog ? Math.ceil(dialog.getBoundingClientRect().right) : 0;
  return Math.max(right, document.documentElement.scrollWidth);
})()`;

/** Returns violations of WCAG 2.2 AA, and whether the page is wider than its window. */
export async function faultsOf(page: Page, { width, colorScheme }: Look, state: string): Promise<string[]> {
  // A sticky player covers what is scrolled below it, and axe-core reports covered targets as too small.
  await page.evaluate("scrollTo({ top: 0, behavior: 'instant' })");
  const found = await accessibilityViolations(page);
  const right = await page.evaluate<number>(RIGHT_EDGE);
  if (right > width) found.push(`${right} pixels wide`);
  return found.map((fault) => `${state}, ${width} ${colorScheme}: ${fault}`);
}
