import { applyTheme, selectedTheme } from "./theme.ts";

// Runs before the first paint, so that a dark page does not flash white. See `vite.config.ts`.
applyTheme(selectedTheme());
