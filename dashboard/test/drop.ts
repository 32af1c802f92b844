import type { Page } from "playwright-core";

/** Drops files on the page. Dropping them again resumes their uploads, because their modification times are equal. */
export async function drop(page: Page, files: { name: string; bytes: Buffer }[]): Promise<void> {
  const encoded = files.map(({ name, bytes }) => ({ name, base64: bytes.toString("base64") }));
  await page.evaluate(`{
    const transfer = new DataTransfer();
    for (const { name, base64 } of ${JSON.stringify(encoded)}) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type: "video/mp4", lastModified: 1_700_000_000_000 }));
    }
    for (const type of ["dragenter", "dragover", "drop"]) {
      const event = new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true });
      document.body.dispatchEvent(event);
    }
  }`);
}
