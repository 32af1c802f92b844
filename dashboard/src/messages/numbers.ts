import { LOCALE } from "./locale.ts";

const NUMBERS = new Intl.NumberFormat(LOCALE);
const PLURALS = new Intl.PluralRules(LOCALE);

/** Returns e.g. `1,200` or `1.200`. */
export function formatNumber(count: number): string {
  return NUMBERS.format(count);
}

/** Returns e.g. `1 video` or `1,200 videos`. */
export function plural(count: number, one: string, other: string): string {
  return `${formatNumber(count)} ${pluralForm(count, one, other)}`;
}

/** Returns the form alone. English and German have the same two. */
export function pluralForm(count: number, one: string, other: string): string {
  return PLURALS.select(count) === "one" ? one : other;
}
