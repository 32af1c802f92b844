import type { UploadOfferView } from "@subtext/server/admin/contract/video";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Dashboard } from "./open-dashboard.ts";

export interface UploadTarget {
  videoId: string;
  /** Sends the whole file. */
  send(): Promise<void>;
}

/** Creates a video without sending its bytes. */
export async function beginUpload(
  { service: { parts } }: Dashboard,
  { environmentId, filename, bytes }: { environmentId: string; filename: string; bytes: Buffer },
): Promise<UploadTarget> {
  const offered = await fetch(`${parts.config.publicUrl}/internal/environments/${environmentId}/videos`, {
    method: "POST",
    headers: { authorization: `Bearer ${parts.commandLineToken}`, "content-type": "application/json" },
    body: JSON.stringify({ filename, sizeBytes: bytes.length }),
  });
  const { video, upload } = (await offered.json()) as UploadOfferView;
  return {
    videoId: video.id,
    async send() {
      const contentType = "application/offset+octet-stream";
      const headers = { "tus-resumable": "1.0.0", "upload-offset": "0", "content-type": contentType };
      const sent = await fetch(upload.url, { method: "PATCH", headers, body: new Uint8Array(bytes) });
      if (sent.status !== 204) throw new Error(`the upload returned ${sent.status}`);
    },
  };
}

/** Replaces Playwright's `waitForFunction`, which violates the page's Content-Security-Policy. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await expect.poll(() => page.evaluate(`Boolean(${expression})`)).toBe(true);
}

export interface SpokenWord {
  word: string;
  start: number;
  end: number;
}

/** Downloads the transcript of the video that the page shows. */
export async function downloadWords(page: Page): Promise<SpokenWord[]> {
  return await page.evaluate(
    "fetch('/internal' + location.pathname + '/files/json').then((response) => response.json())",
  );
}

export interface HighlightSample {
  /** The player's time. */
  seconds: number;
  /** The highlighted word. */
  text: string;
}

/**
 * Plays the video and takes a sample in every frame, after the page has updated its highlight. To run after the page's
 * own callback, `look` requests its next frame on the same events as the page.
 */
export async function sampleHighlights(page: Page, playMs: number): Promise<HighlightSample[]> {
  return await page.evaluate(`(async () => {
    const video = document.querySelector("video");
    video.muted = true;
    await video.play();
    const samples = [];
    let frame = 0;
    const look = () => {
      cancelAnimationFrame(frame);
      const [range] = CSS.highlights.get("subtext-active") ?? [];
      samples.push({ seconds: video.currentTime, text: range?.toString() ?? "" });
      frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    video.addEventListener("timeupdate", look);
    await new Promise((resolve) => setTimeout(resolve, ${playMs}));
    video.removeEventListener("timeupdate", look);
    cancelAnimationFrame(frame);
    video.pause();
    return samples;
  })()`);
}

/** Clicks the middle of a word in the transcript. */
export async function clickWord(page: Page, word: string): Promise<void> {
  const point = await page.evaluate<{ x: number; y: number } | null>(`(() => {
    const root = document.querySelector("section[tabindex]");
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf("${word}");
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + ${word.length});
      node.parentElement.scrollIntoView({ block: "center" });
      const { left, top, width, height } = range.getBoundingClientRect();
      return { x: left + width / 2, y: top + height / 2 };
    }
    return null;
  })()`);
  if (!point) throw new Error(`"${word}" is not in the transcript`);
  await page.mouse.click(point.x, point.y);
}
