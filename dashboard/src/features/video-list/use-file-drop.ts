import { useEffect, useState } from "react";

/**
 * Accepts files dropped anywhere on the page.
 * @param onFiles called with the dropped files; null disables dropping
 * @returns whether files are being dragged over the page
 */
export function useFileDrop(onFiles: ((files: File[]) => void) | null): boolean {
  const [isDragging, setDragging] = useState(false);
  useEffect(() => {
    if (!onFiles) return;
    const controller = new AbortController();
    const { signal } = controller;
    // Each element that the pointer crosses fires dragenter and dragleave. At depth 0, the pointer has left the page.
    let depth = 0;
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    addEventListener(
      "dragenter",
      (event) => {
        if (!hasFiles(event)) return;
        depth += 1;
        setDragging(true);
      },
      { signal },
    );
    addEventListener(
      "dragleave",
      (event) => {
        if (!hasFiles(event)) return;
        depth = Math.max(0, depth - 1);
        if (depth === 0) setDragging(false);
      },
      { signal },
    );
    addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault(), { signal });
    addEventListener(
      "drop",
      (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth = 0;
        setDragging(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length > 0) onFiles(files);
      },
      { signal },
    );
    return () => {
      controller.abort();
      setDragging(false);
    };
  }, [onFiles]);
  return isDragging;
}
