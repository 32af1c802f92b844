import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { isApple } from "../hooks/shortcuts.ts";
import { shell as texts } from "../messages/en/shell.ts";
import { CommandIcon } from "../ui/icons.tsx";
import css from "./shell.module.css";
import { useSignOut } from "./sign-out.tsx";

const CommandPalette = lazy(async () => ({
  default: (await import("./command-palette/command-palette.tsx")).CommandPalette,
}));

const NewEnvironmentDialog = lazy(async () => ({
  default: (await import("./new-environment-dialog.tsx")).NewEnvironmentDialog,
}));

export function PaletteButton({ onPress }: { onPress(): void }) {
  return (
    <AriaButton
      className={`${css.switcher} ${css.search}`}
      onPress={onPress}
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
    >
      <span>
        <CommandIcon /> {texts.palette.button}
      </span>
      <kbd>{isApple() ? "⌘ K" : `${texts.controlKey} K`}</kbd>
    </AriaButton>
  );
}

/** Opens the command palette with Ctrl+K or ⌘K. Its code is loaded on first use. The caller renders the dialog. */
export function useCommandPalette(environmentId: string | null): { open(): void; dialog: ReactNode } {
  const [isOpen, setOpen] = useState(false);
  const [isCreating, setCreating] = useState(false);
  const signOut = useSignOut();
  const open = useCallback(() => setOpen(true), []);
  const close = useCallback(() => setOpen(false), []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented } = event;
      const isChord = key.toLowerCase() === "k" && (ctrlKey || metaKey) && !altKey && !shiftKey;
      if (defaultPrevented || !isChord) return;
      if (document.querySelector("[role=alertdialog], [role=dialog]")) return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [open]);
  const dialog = (
    <>
      {isOpen && (
        <Suspense fallback={null}>
          <CommandPalette
            environmentId={environmentId}
            onClose={close}
            onSignOut={signOut.start}
            onNewEnvironment={() => setCreating(true)}
          />
        </Suspense>
      )}
      {isCreating && (
        <Suspense fallback={null}>
          <NewEnvironmentDialog isOpen onOpenChange={setCreating} />
        </Suspense>
      )}
      {signOut.dialog}
    </>
  );
  return { open, dialog };
}
