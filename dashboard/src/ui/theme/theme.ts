import { readLocal, writeLocal } from "../../hooks/local-storage.ts";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "subtext.theme";
const CHANGED = "subtext:theme";

export function selectedTheme(): Theme {
  const stored = readLocal(KEY);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function selectTheme(theme: Theme): void {
  applyTheme(theme);
  writeLocal(KEY, theme);
  dispatchEvent(new Event(CHANGED));
}

/** @returns a function that removes the listener */
export function onThemeSelected(listener: () => void): () => void {
  addEventListener(CHANGED, listener);
  return () => removeEventListener(CHANGED, listener);
}

export function shownTheme(): "light" | "dark" {
  const theme = selectedTheme();
  if (theme !== "system") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
