import { chooseLocale, selectedLanguage } from "../language.ts";
import { applyTheme, selectedTheme } from "./theme.ts";

/** Pages without the navigation. */
const SIGNED_OUT_PAGES = ["/setup", "/join", "/sign-in"];

// Runs before the first paint, so that dark pages do not flash white, and before the modules that read the document's
// language. See `vite.config.ts`.
applyTheme(selectedTheme());
document.documentElement.lang = chooseLocale(selectedLanguage(), navigator.languages);
if (SIGNED_OUT_PAGES.includes(location.pathname)) document.documentElement.dataset.frame = "signed-out";
