import { applyTheme, selectedTheme } from "./theme.ts";

// Runs before the first paint, so that a dark page does not flash white; see `vite.config.ts`.
applyTheme(selectedTheme());
