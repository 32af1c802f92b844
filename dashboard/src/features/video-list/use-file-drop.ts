import { useEffect, useState } from "react";

/**
 * Takes files that are dropped anywhere on the page.
 * @param onFiles null where none are wanted
 * @returns whether files are held above the page
 */
export function useDrop(onFiles: ((files: File[]) => void) | null): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!onFiles) return;
    const controller = new AbortController();
    const { signal } = controller;
    // Each element under the pointer is entered and left; the page is left when all of them are.
    let depth = 0;
    const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    addEventListener(
      "dragenter",
      (event) => {
        if (!holdsFiles(event)) return;
        depth += 1;
        setOver(true);
      },
      { signal },
    );
    addEventListener(
      "dragleave",
      (event) => {
        if (!holdsFiles(event)) return;
        depth = Math.max(0, depth - 1);
        if (depth === 0) setOver(false);
      },
      { signal },
    );
    addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault(), { signal });
    addEventListener(
      "drop",
      (event) => {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        depth = 0;
        setOver(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length > 0) onFiles(files);
      },
      { signal },
    );
    return () => {
      controller.abort();
      setOver(false);
    };
  }, [onFiles]);
  return isOver;
}
