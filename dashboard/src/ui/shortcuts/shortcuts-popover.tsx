import { Fragment, type RefObject, useState } from "react";
import { Dialog, Heading, Popover } from "react-aria-components";
import { areSingleKeysEnabled, type Shortcut, setSingleKeysEnabled } from "../../hooks/shortcuts.ts";
import { ui as texts } from "../../messages/en/ui.ts";
import controls from "../forms/controls.module.css";
import { Switch } from "../forms/controls.tsx";
import css from "./shortcuts-help.module.css";

export function ShortcutsPopover({
  shortcuts,
  button,
  isOpen,
  onOpenChange,
}: {
  shortcuts: readonly Shortcut[];
  button: RefObject<HTMLButtonElement | null>;
  isOpen: boolean;
  onOpenChange(isOpen: boolean): void;
}) {
  const [isEnabled, setEnabled] = useState(areSingleKeysEnabled);
  const enable = (enabled: boolean) => {
    setSingleKeysEnabled(enabled);
    setEnabled(enabled);
  };
  return (
    <Popover
      className={controls.popover ?? ""}
      placement="bottom end"
      triggerRef={button}
      isOpen={isOpen}
      onOpenChange={onOpenChange}
    >
      <Dialog className={css.help ?? ""}>
        <Heading slot="title" level={2}>
          {texts.keyboardShortcuts}
        </Heading>
        <dl className={css.keys}>
          {shortcuts.map(({ keys, action }) => (
            <Fragment key={action}>
              <dt>
                {keys.map((key, index) => (
                  <Fragment key={key}>
                    {index > 0 && " "}
                    <code>{key}</code>
                  </Fragment>
                ))}
              </dt>
              <dd>{action}</dd>
            </Fragment>
          ))}
        </dl>
        <Switch isSelected={isEnabled} onChange={enable}>
          {texts.enableSingleKeys}
        </Switch>
      </Dialog>
    </Popover>
  );
}
