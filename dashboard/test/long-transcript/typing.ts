import type { BrowserContext, Page } from "playwright-core";

const KEYSTROKES = 200;
/** Fast typing: 120 words per minute. */
const KEY_DELAY_MS = 100;
const TYPED = "and the name of the person who spoke about the budget is not the one that we read here ";

/** Milliseconds from each keystroke to the next frame. */
export interface TypingLatency {
  p50: number;
  p95: number;
  max: number;
}

/** Types in the middle of the transcript in the editor of the page. */
export async function typeInEditor(page: Page): Promise<TypingLatency> {
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Paragraph at 0:00" }).waitFor();
  await page.evaluate(`(() => {
    const paragraphs = document.querySelectorAll("[contenteditable]");
    const middle = paragraphs[Math.floor(paragraphs.length / 2)];
    middle.scrollIntoView({ block: "center" });
    middle.focus();
    getSelection().collapse(middle.firstChild, middle.textContent.indexOf(" follow"));
  })()`);
  return await measure(page);
}

/** Types in the middle of the same text in elements without an editor. */
export async function typeInPlainElements(
  context: BrowserContext,
  paragraphs: readonly string[],
): Promise<Record<string, TypingLatency>> {
  const page = await context.newPage();
  const text = paragraphs.join("\n\n");
  await page.setContent('<textarea rows="30" cols="60"></textarea>');
  const area = page.locator("textarea");
  await area.fill(text);
  await area.evaluate(`(element) => {
    element.focus();
    element.setSelectionRange(element.value.length / 2, element.value.length / 2);
    element.scrollTop = element.scrollHeight / 2;
  }`);
  const textarea = await measure(page);
  await page.setContent('<div contenteditable="plaintext-only" style="white-space: pre-wrap"></div>');
  await page.locator("div").evaluate(
    `(element, text) => {
      element.textContent = text;
      element.focus();
      getSelection().collapse(element.firstChild, text.length / 2);
      scrollTo(0, document.body.scrollHeight / 2);
    }`,
    text,
  );
  const contenteditable = await measure(page);
  await page.close();
  return { textarea, contenteditable };
}

async function measure(page: Page): Promise<TypingLatency> {
  await page.evaluate(`(() => {
    window.latencies = [];
    addEventListener("keydown", ({ timeStamp }) => {
      requestAnimationFrame(() => {
        // The message arrives after the frame.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => window.latencies.push(performance.now() - timeStamp);
        port2.postMessage(null);
      });
    }, { capture: true });
  })()`);
  const text = TYPED.repeat(Math.ceil(KEYSTROKES / TYPED.length)).slice(0, KEYSTROKES);
  await page.keyboard.type(text, { delay: KEY_DELAY_MS });
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 1_000))");
  const latencies = await page.evaluate<number[]>("window.latencies");
  if (latencies.length !== KEYSTROKES) throw new Error(`${latencies.length} keystrokes were measured`);
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]!;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}
