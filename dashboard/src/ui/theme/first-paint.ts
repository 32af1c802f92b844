import { chooseLocale, selectedLanguage } from "../language.ts";
import { applyTheme, selectedTheme } from "./theme.ts";

// Runs before the first paint, so that dark pages do not flash white, and before the modules that read the document's
// language. See `vite.config.ts`.
applyTheme(selectedTheme());
document.documentElement.lang = chooseLocale(selectedLanguage(), navigator.languages);
