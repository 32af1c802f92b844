import { Fragment, useState } from "react";
import { Button as AriaButton, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import { areSingleKeysEnabled, type Shortcut, setSingleKeysEnabled } from "../hooks/shortcuts.ts";
import { ui as texts } from "../messages/en/ui.ts";
import controls from "./forms/controls.module.css";
import { Switch } from "./forms/controls.tsx";
import { KeyboardIcon } from "./icons.tsx";
import css from "./shortcuts-help.module.css";

export interface ShortcutsHelpProps {
  isOpen: boolean;
  onOpenChange(open: boolean): void;
}

export function ShortcutsHelp({
  shortcuts,
  ...props
}: ShortcutsHelpProps & { shortcuts: readonly Shortcut[] }) {
  const [isEnabled, setEnabled] = useState(areSingleKeysEnabled);
  const enable = (enabled: boolean) => {
    setSingleKeysEnabled(enabled);
    setEnabled(enabled);
  };
  return (
    <DialogTrigger {...props}>
      <AriaButton
        className={`${controls.button} ${controls.quiet} ${controls.iconOnly} ${css.button}`}
        aria-label={texts.keyboardShortcuts}
      >
        <KeyboardIcon />
      </AriaButton>
      <Popover className={controls.popover ?? ""} placement="bottom end">
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
    </DialogTrigger>
  );
}
