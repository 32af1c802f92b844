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
    (name) => /\.tsx?$/.test(name) && !name.startsWith("messages/"),
  );
  expect(files.length).toBeGreaterThan(100);
  const texts = files.flatMap((file) =>
    findScreenTexts(readFileSync(join(SOURCES, file), "utf8")).map((text) => `${file}:${text}`),
  );
  expect(texts).toEqual([]);
});
