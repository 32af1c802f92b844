import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";

const TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 20;

/** Page object of the transcript editor. Uses the mouse and the keyboard. */
export class Editor {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async open(): Promise<void> {
    await this.#page.getByRole("button", { name: "Edit" }).click();
    await this.#page
      .getByRole("region", { name: "Transcript editor" })
      .getByRole("textbox")
      .first()
      .waitFor();
  }

  async close(): Promise<void> {
    await this.#page.getByRole("button", { name: "Done" }).click();
    await this.#page.getByRole("button", { name: "Edit" }).waitFor();
  }

  /** Returns the text of all paragraphs, with a newline between them. */
  async text(): Promise<string> {
    return await this.#page.evaluate<string>(
      `[...document.querySelectorAll("[contenteditable]")].map(({ textContent }) => textContent).join("\\n")`,
    );
  }

  async untilText(expected: string | ((text: string) => boolean)): Promise<void> {
    const matches = typeof expected === "string" ? (text: string) => text === expected : expected;
    const end = performance.now() + TIMEOUT_MS;
    for (;;) {
      const text = await this.text();
      if (matches(text)) return;
      if (performance.now() > end) throw new Error(`The editor does not show the expected text:\n${text}`);
      await delay(POLL_INTERVAL_MS);
    }
  }

  async untilSaved(): Promise<void> {
    await this.#page.locator("[data-state=saved]").waitFor();
  }

  async selectWord(word: string): Promise<void> {
    const { left, right, y } = await this.#place(word);
    await this.#page.mouse.dblclick((left + right) / 2, y);
  }

  /** Places the caret after a word. */
  async clickBehind(word: string): Promise<void> {
    const { right, y } = await this.#place(word);
    await this.#page.mouse.click(right, y);
  }

  /** Selects from one word to another with the mouse. Both must fit in the window at the same time. */
  async dragOver(from: string, to: string): Promise<void> {
    await this.#place(to);
    const start = await this.#place(from, { scrolls: false });
    const end = await this.#place(to, { scrolls: false });
    const { mouse } = this.#page;
    await mouse.move(start.left + 1, start.y);
    await mouse.down();
    await mouse.move(start.right, start.y);
    await mouse.move(end.right - 1, end.y, { steps: 5 });
    await mouse.up();
  }

  /** Scrolls to the first occurrence of a word, and returns its position in the window once it no longer moves. */
  async #place(word: string, { scrolls = true } = {}): Promise<{ left: number; right: number; y: number }> {
    const place = await this.#page.evaluate<{ left: number; right: number; y: number } | null>(`(async () => {
      const scrollTo = (range) => {
        const scroller = document.querySelector("[data-paragraph]").parentElement;
        const { top, height } = scroller.getBoundingClientRect();
        scroller.scrollTop += range.getBoundingClientRect().top - top - height / 2;
      };
      for (const { firstChild: text } of document.querySelectorAll("[contenteditable]")) {
        const at = text?.data.search(/\\b${word}(?!\\w)/) ?? -1;
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + ${word.length});
        if (${scrolls}) scrollTo(range);
        for (;;) {
          const { left, right, top, height } = range.getBoundingClientRect();
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          if (range.getBoundingClientRect().top === top) return { left, right, y: top + height / 2 };
        }
      }
      return null;
    })()`);
    if (!place) throw new Error(`"${word}" is not in the transcript:\n${await this.text()}`);
    return place;
  }
}
