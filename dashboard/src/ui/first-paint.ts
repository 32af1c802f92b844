import { applyTheme, chosenTheme } from "./theme.ts";

// Loaded before anything is drawn, so that a dark page does not flash in white first; see `vite.config.ts`.
applyTheme(chosenTheme());
