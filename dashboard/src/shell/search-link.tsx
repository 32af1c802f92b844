import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { singleKeysWork } from "../hooks/shortcuts.ts";
import { SearchIcon } from "../ui/icons.tsx";
import css from "./shell.module.css";

const SEARCH_PATH = "/environments/$environmentId/search";

/** Looks like a field and leads to the page with the real one. */
export function SearchLink({ environmentId }: { environmentId: string }) {
  return (
    <Link
      className={`${css.switcher} ${css.search}`}
      to={SEARCH_PATH}
      params={{ environmentId }}
      aria-keyshortcuts="Control+K Meta+K"
    >
      <span>
        <SearchIcon /> Search
      </span>
      <kbd>{isApple() ? "⌘ K" : "Ctrl K"}</kbd>
    </Link>
  );
}

/** Ctrl + K, or ⌘ K, from anywhere; `/` too where no page of one video takes it for its own search. */
export function useSearchShortcut(environmentId: string | null): void {
  const navigate = useNavigate();
  const { videoId } = useParams({ strict: false });
  useEffect(() => {
    if (environmentId === null) return;
    const press = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, target, defaultPrevented } = event;
      const chord = key.toLowerCase() === "k" && (ctrlKey || metaKey) && !altKey && !shiftKey;
      const isSingle = !ctrlKey && !metaKey && !altKey && singleKeysWork();
      const slash = key === "/" && isSingle && videoId === undefined;
      if (defaultPrevented || !(chord || (slash && !isTyping(target)))) return;
      // A dialog waits for its answer.
      if (document.querySelector("[role=alertdialog], [role=dialog]")) return;
      event.preventDefault();
      const field = document.querySelector<HTMLInputElement>("main input[type=search][data-begin]");
      if (field) field.select();
      else void navigate({ to: SEARCH_PATH, params: { environmentId } });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [environmentId, navigate, videoId]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select, [role=textbox]"))
  );
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
