import { lazy, Suspense, useRef } from "react";
import { Button as AriaButton } from "react-aria-components";
import type { Shortcut } from "../../hooks/shortcuts.ts";
import { ui as texts } from "../../messages/en/ui.ts";
import controls from "../forms/controls.module.css";
import { KeyboardIcon } from "../icons.tsx";
import css from "./shortcuts-help.module.css";

const ShortcutsPopover = lazy(async () => ({
  default: (await import("./shortcuts-popover.tsx")).ShortcutsPopover,
}));

export interface ShortcutsHelpProps {
  isOpen: boolean;
  onOpenChange(open: boolean): void;
}

/** The code of the popover is loaded on first use. */
export function ShortcutsHelp({
  shortcuts,
  isOpen,
  onOpenChange,
}: ShortcutsHelpProps & { shortcuts: readonly Shortcut[] }) {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <AriaButton
        className={`${controls.button} ${controls.quiet} ${controls.iconOnly} ${css.button}`}
        ref={button}
        aria-label={texts.keyboardShortcuts}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPress={() => onOpenChange(true)}
      >
        <KeyboardIcon />
      </AriaButton>
      {isOpen && (
        <Suspense fallback={null}>
          <ShortcutsPopover shortcuts={shortcuts} button={button} isOpen onOpenChange={onOpenChange} />
        </Suspense>
      )}
    </>
  );
}
