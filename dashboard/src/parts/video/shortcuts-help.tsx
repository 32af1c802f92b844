import { Fragment, useState } from "react";
import { Button as AriaButton, Dialog, DialogTrigger, Heading, Popover } from "react-aria-components";
import controls from "../../design/controls.module.css";
import { Switch } from "../../design/controls.tsx";
import { KeyboardIcon } from "./icons.tsx";
import css from "./player.module.css";
import { letSingleKeysWork, SHORTCUTS, singleKeysWork } from "./shortcuts.ts";

export interface ShortcutsHelpProps {
  isOpen: boolean;
  onOpenChange(open: boolean): void;
}

export function ShortcutsHelp(props: ShortcutsHelpProps) {
  const [work, setWork] = useState(singleKeysWork);
  const choose = (chosen: boolean) => {
    letSingleKeysWork(chosen);
    setWork(chosen);
  };
  return (
    <DialogTrigger {...props}>
      <AriaButton className={`${controls.button} ${controls.quiet}`}>
        <KeyboardIcon /> Keyboard
      </AriaButton>
      <Popover className={controls.popover ?? ""} placement="bottom end">
        <Dialog className={css.help ?? ""}>
          <Heading slot="title" level={2}>
            Keyboard
          </Heading>
          <dl className={css.keys}>
            {SHORTCUTS.map(({ keys, does }) => (
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
            These keys work on this page
          </Switch>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
