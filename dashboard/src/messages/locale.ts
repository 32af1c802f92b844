// Tests of texts run in Node, without a document and its types.
const { document: page } = globalThis as { document?: { documentElement: { lang: string } } };

/**
 * The locale of numbers, dates and sorting, e.g. `de-AT`. `ui/theme/first-paint.ts` has set it on the document
 * before this module runs. A change of the language reloads the page.
 */
export const LOCALE: string = page?.documentElement.lang || "en";

export const IS_GERMAN = LOCALE.startsWith("de");
