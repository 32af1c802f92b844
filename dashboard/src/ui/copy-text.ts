/**
 * Puts text on the clipboard. Browsers give pages that came by plain HTTP no clipboard, which is how a service in
 * a network of one's own is often opened; those are told what to copy at the moment of a copy of their own.
 * @returns false where the browser does not let the page copy
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }
  let isTaken = false;
  const give = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isTaken = true;
  };
  document.addEventListener("copy", give, { capture: true });
  document.execCommand("copy");
  document.removeEventListener("copy", give, { capture: true });
  return isTaken;
}
