import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { layOutCues } from "@subtext/captions/cues";
import { renderVtt } from "@subtext/captions/vtt";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChromium } from "./chromium.ts";
import { EXAMPLES } from "./examples.ts";

let browser: Browser;
let server: Server;
let origin: string;

beforeAll(async () => {
  browser = await startChromium();
  server = createServer((request, response) => {
    const name = request.url?.slice(1).replace(".vtt", "") ?? "";
    const example = EXAMPLES[name];
    if (!example) return void response.writeHead(404).end();
    const [type, body] = request.url?.endsWith(".vtt")
      ? ["text/vtt", renderVtt(example.words, example)]
      : ["text/html", page(name, example.language)];
    response.writeHead(200, { "content-type": `${type}; charset=utf-8`, "access-control-allow-origin": "*" });
    response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await browser?.close();
  server?.close();
});

function page(name: string, language: string): string {
  return `<!doctype html><meta charset="utf-8"><video crossorigin="anonymous">
    <track default kind="captions" srclang="${language}" src="/${name}.vtt"></video>`;
}

/** Waits until the page's track has loaded and returns the cues that the browser parsed. */
const READ_TRACK = `(async () => {
  const element = document.querySelector("track");
  const LOADED = 2;
  if (element.readyState < LOADED) {
    await new Promise((resolve, reject) => {
      element.addEventListener("load", resolve);
      element.addEventListener("error", () => reject(new Error("the browser rejected the track")));
    });
  }
  if (element.readyState !== LOADED) throw new Error("the browser rejected the track");
  return Array.from(element.track.cues, (cue) => ({
    start: cue.startTime,
    end: cue.endTime,
    text: cue.getCueAsHTML().textContent,
    elements: cue.getCueAsHTML().childElementCount,
  }));
})()`;

test.each(Object.keys(EXAMPLES))("a browser parses the captions as laid out: %s", async (name) => {
  const example = EXAMPLES[name]!;
  const tab = await browser.newPage();
  try {
    await tab.goto(`${origin}/${name}`);
    const cues = (await tab.evaluate(READ_TRACK)) as {
      start: number;
      end: number;
      text: string;
      elements: number;
    }[];
    expect(cues.map((cue) => ({ ...cue, text: cue.text.replace(/^[\u200e\u200f]/gmu, "") }))).toEqual(
      layOutCues(example.words, example).map(({ start, end, lines }) => ({
        start,
        end,
        text: lines.join("\n"),
        elements: 0,
      })),
    );
  } finally {
    await tab.close();
  }
});
