import { account as texts } from "../../messages/en/account.ts";

/**
 * The first match counts: Edge and Opera also call themselves Chrome, and Chrome also calls itself Safari. On iOS, browsers
 * use other names, such as `CriOS` for Chrome.
 */
const BROWSERS: [RegExp, string][] = [
  [/(?:Firefox|FxiOS)\//, "Firefox"],
  [/Edg(?:A|iOS)?\//, "Edge"],
  [/(?:OPR|OPT)\//, "Opera"],
  [/(?:Chrome|CriOS)\//, "Chrome"],
  [/Safari\//, "Safari"],
];
/** The first match counts: iOS also calls itself Mac OS X, and Android also calls itself Linux. */
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/** Returns e.g. `Chrome on iOS`. */
export function browserName(userAgent: string | null): string {
  const find = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  const name = browser ?? texts.unknownBrowser;
  return system === undefined ? name : texts.browserOn(name, system);
}
