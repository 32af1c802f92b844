import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { startChromium } from "../../../captions/test/chromium.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { startFilesApp } from "./files-app.ts";

it("a track element on a page of another origin shows the captions of a file URL", async () => {
  const files = await startFilesApp(systemClock);
  const captions = "WEBVTT\n\n00:00.000 --> 00:02.000\n¿Qué tal?\n\n00:02.000 --> 00:04.000\nBien.\n";
  const target = await files.urlFor(captions, { name: "captions.vtt", type: "text/vtt" });
  const src = `http://127.0.0.1:${files.port}${target}`.replaceAll("&", "&amp;");
  const page = `<!doctype html><video crossorigin><track default kind="captions" src="${src}"></video>`;
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await startChromium();
  try {
    const tab = await browser.newPage();
    await tab.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    await tab.waitForFunction("document.querySelector('track').readyState >= 2");
    const shown = await tab.evaluate(
      "[...document.querySelector('track').track.cues].map((cue) => [cue.startTime, cue.text])",
    );
    expect(shown).toEqual([
      [0, "¿Qué tal?"],
      [2, "Bien."],
    ]);
  } finally {
    await browser.close();
    server.close();
    await files.close();
  }
});
