import { useEffect } from "react";

/** The document's title, which screen readers read out when a page opens. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Subtext`;
  }, [title]);
}
