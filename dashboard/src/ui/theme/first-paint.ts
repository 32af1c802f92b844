import { applyTheme, selectedTheme } from "./theme.ts";

// Runs before the first paint, so that dark pages do not flash white. See `vite.config.ts`.
applyTheme(selectedTheme());
