import type { RefObject } from "react";
import { Menu, MenuItem, Popover } from "react-aria-components";
import controls from "../forms/controls.module.css";

export interface MenuAction {
  name: string;
  run(): void;
}

export function ActionPopover({
  label,
  actions,
  button,
  isOpen,
  onOpenChange,
}: {
  label: string;
  actions: readonly MenuAction[];
  button: RefObject<HTMLButtonElement | null>;
  isOpen: boolean;
  onOpenChange(isOpen: boolean): void;
}) {
  return (
    <Popover
      className={controls.popover ?? ""}
      placement="bottom end"
      triggerRef={button}
      isOpen={isOpen}
      onOpenChange={onOpenChange}
    >
      <Menu
        className={controls.menu ?? ""}
        aria-label={label}
        autoFocus="first"
        onClose={() => onOpenChange(false)}
      >
        {actions.map(({ name, run }) => (
          <MenuItem key={name} id={name} className={controls.item ?? ""} onAction={run}>
            {name}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  );
}
