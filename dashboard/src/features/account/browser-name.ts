// Later names are told by browsers that also tell the earlier ones.
const BROWSERS: [RegExp, string][] = [
  [/Firefox\//, "Firefox"],
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/** `Firefox on Linux`, as far as a User-Agent tells. */
export function browserOf(userAgent: string | null): string {
  const named = (known: [RegExp, string][]) => known.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];
  const [browser, system] = [named(BROWSERS), named(SYSTEMS)];
  return [browser ?? "Unknown browser", system && `on ${system}`].filter(Boolean).join(" ");
}
