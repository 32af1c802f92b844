import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { areSingleKeysEnabled } from "../hooks/shortcuts.ts";
import { shell as texts } from "../messages/en/shell.ts";
import { SearchIcon } from "../ui/icons.tsx";
import css from "./shell.module.css";

const SEARCH_PATH = "/environments/$environmentId/search";

export function SearchLink({ environmentId }: { environmentId: string }) {
  const { videoId } = useParams({ strict: false });
  const hasShortcut = videoId === undefined;
  return (
    <Link
      className={`${css.switcher} ${css.search}`}
      to={SEARCH_PATH}
      params={{ environmentId }}
      aria-keyshortcuts={hasShortcut ? "/" : undefined}
    >
      <span>
        <SearchIcon /> {texts.pages.search}
      </span>
      {hasShortcut && <kbd>/</kbd>}
    </Link>
  );
}

/** Opens the search page with `/`, except on video pages, where `/` searches the transcript. */
export function useSearchShortcut(environmentId: string | null): void {
  const navigate = useNavigate();
  const { videoId } = useParams({ strict: false });
  useEffect(() => {
    if (environmentId === null) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target, defaultPrevented } = event;
      const isSingle = !ctrlKey && !metaKey && !altKey && areSingleKeysEnabled();
      if (defaultPrevented || key !== "/" || !isSingle || videoId !== undefined || isTyping(target)) return;
      if (document.querySelector("[role=alertdialog], [role=dialog]")) return;
      event.preventDefault();
      const field = document.querySelector<HTMLInputElement>("main input[type=search][data-initial-focus]");
      if (field) field.select();
      else void navigate({ to: SEARCH_PATH, params: { environmentId } });
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [environmentId, navigate, videoId]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select, [role=textbox]"))
  );
}
