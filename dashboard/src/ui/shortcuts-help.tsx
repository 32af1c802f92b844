import { Fragment, useState } from "react";
import { Button as AriaButton, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import { letSingleKeysWork, type Shortcut, singleKeysWork } from "../hooks/shortcuts.ts";
import controls from "./controls.module.css";
import { Switch } from "./controls.tsx";
import { KeyboardIcon } from "./icons.tsx";
import css from "./shortcuts-help.module.css";

/** Opened by its button, or by a key of the page. */
export interface ShortcutsHelpProps {
  isOpen: boolean;
  onOpenChange(open: boolean): void;
}

export function ShortcutsHelp({
  shortcuts,
  ...props
}: ShortcutsHelpProps & { shortcuts: readonly Shortcut[] }) {
  const [work, setWork] = useState(singleKeysWork);
  const choose = (chosen: boolean) => {
    letSingleKeysWork(chosen);
    setWork(chosen);
  };
  return (
    <DialogTrigger {...props}>
      <AriaButton
        className={`${controls.button} ${controls.quiet} ${controls.square} ${css.button}`}
        aria-label="Keyboard shortcuts"
      >
        <KeyboardIcon />
      </AriaButton>
      <Popover className={controls.popover ?? ""} placement="bottom end">
        <Dialog className={css.help ?? ""}>
          <Heading slot="title" level={2}>
            Keyboard shortcuts
          </Heading>
          <dl className={css.keys}>
            {shortcuts.map(({ keys, does }) => (
              <Fragment key={does}>
                <dt>
                  {keys.map((key, index) => (
                    <Fragment key={key}>
                      {index > 0 && " "}
                      <code>{key}</code>
                    </Fragment>
                  ))}
                </dt>
                <dd>{does}</dd>
              </Fragment>
            ))}
          </dl>
          <Switch isSelected={work} onChange={choose}>
            Enable single-key shortcuts
          </Switch>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
