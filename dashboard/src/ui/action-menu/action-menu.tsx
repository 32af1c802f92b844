import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { Button } from "../forms/controls.tsx";
import type { MenuAction } from "./action-popover.tsx";

const ActionPopover = lazy(async () => ({
  default: (await import("./action-popover.tsx")).ActionPopover,
}));

/**
 * A button that opens a menu of actions. The code of the menu is loaded on first use.
 * @param props.children the button's icon
 * @param props.onPressStart called before the menu takes the focus
 */
export function ActionMenu({
  label,
  actions,
  onPressStart,
  children,
}: {
  label: string;
  actions: readonly MenuAction[];
  onPressStart?: () => void;
  children: ReactNode;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const [isUsed, setUsed] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setUsed(true);
    setOpen(true);
  };
  return (
    <>
      <Button
        ref={button}
        variant="quiet"
        iconOnly
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        {...(onPressStart && { onPressStart })}
        onPress={open}
        onKeyDown={({ key }) => {
          if (key !== "ArrowDown") return;
          onPressStart?.();
          open();
        }}
      >
        {children}
      </Button>
      {isUsed && (
        <Suspense fallback={null}>
          <ActionPopover
            label={label}
            actions={actions}
            button={button}
            isOpen={isOpen}
            onOpenChange={setOpen}
          />
        </Suspense>
      )}
    </>
  );
}
