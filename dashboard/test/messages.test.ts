import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { APP_ERRORS } from "../../server/src/lib/errors.ts";
import { GERMAN } from "../src/messages/de/catalog.ts";
import { chooseLocale } from "../src/ui/language.ts";
import { findScreenTexts } from "./screen-texts.ts";

const SOURCES = join(import.meta.dirname, "../src");

test("no text for readers is written outside the messages", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.tsx?$/.test(name) && !/^messages|verification-code/.test(name),
  );
  expect(files.length).toBeGreaterThan(100);
  const texts = files.flatMap((file) =>
    findScreenTexts(readFileSync(join(SOURCES, file), "utf8")).map((text) => `${file}:${text}`),
  );
  expect(texts).toEqual([]);
});

test("the check finds texts in elements, attributes, expressions and messages", () => {
  const source = `
    const TITLE = "Sign in";
    export const Page = ({ count }: { count: number }) => (
      <main className="Wide page" aria-label={count > 0 ? "Videos" : "nothing here"} title={\`\${count} videos\`}>
        left <code>npm ci</code> {count > 1 && "more"} {key === "Enter"}
      </main>
    );`;
  expect(findScreenTexts(source)).toEqual([
    '2: "Sign in"',
    '4: "Videos"',
    '4: "nothing here"',
    '4: "videos"',
    '4: "left"',
  ]);
});

test("English and German have the same messages with the same parameters", async () => {
  const files = readdirSync(join(SOURCES, "messages/en"));
  const english: Record<string, unknown> = {};
  for (const file of files) Object.assign(english, await import(join(SOURCES, "messages/en", file)));
  const { problems: _english, ...ofEnglish } = english;
  const { problems: _german, ...ofGerman } = GERMAN as Record<string, unknown>;
  expect(shapeOf(ofEnglish, ["checks"])).toEqual(shapeOf(ofGerman, ["checks"]));
});

test("German formats a retention policy", () => {
  expect(GERMAN.audit.retentionPolicy({ days: 1, deletes: "video" })).toBe("Videos nach 1 Tag löschen");
  expect(GERMAN.audit.retentionPolicy({ days: 90, deletes: "recording" })).toBe(
    "Aufnahmen nach 90 Tagen löschen",
  );
});

test("the problems that have a German text exist", () => {
  const codes = Object.keys(GERMAN.problems);
  expect(codes.length).toBeGreaterThan(30);
  expect(codes.filter((code) => !Object.hasOwn(APP_ERRORS, code))).toEqual([]);
});

test("the locale is the first of the browser's that has messages, unless a language is selected", () => {
  expect(chooseLocale("browser", ["fr-FR", "de-AT", "en-US"])).toBe("de-AT");
  expect(chooseLocale("browser", ["en-GB", "de"])).toBe("en-GB");
  expect(chooseLocale("browser", ["fr-FR"])).toBe("en");
  expect(chooseLocale("de", ["en-US", "de-CH"])).toBe("de-CH");
  expect(chooseLocale("de", ["en-US"])).toBe("de");
});

/** Returns keys, and the number of parameters of functions. Lists may have different lengths. */
function shapeOf(value: unknown, except: readonly string[]): unknown {
  if (typeof value === "function") return value.length;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "text";
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !except.includes(key))
      .map(([key, each]) => [key, shapeOf(each, except)] as const)
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}
