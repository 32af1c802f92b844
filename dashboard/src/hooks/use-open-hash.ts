import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

/** The hash of links that open a page together with its "create" dialog, such as `/operators#new`. */
export const OPEN_HASH = "new";

/** Opens the page's dialog if the URL has the hash, then removes the hash. */
export function useOpenHash(open: (isOpen: true) => void): void {
  const navigate = useNavigate();
  const hash = useLocation({ select: (location) => location.hash });
  useEffect(() => {
    if (hash !== OPEN_HASH) return;
    open(true);
    void navigate({ to: ".", hash: "", replace: true });
  }, [hash, navigate, open]);
}
