import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { shell as texts } from "../../messages/en/shell.ts";
import controls from "../../ui/forms/controls.module.css";
import { SearchIcon } from "../../ui/icons.tsx";
import css from "./command-palette.module.css";
import { type Command, type PaletteDialogs, useCommands } from "./use-commands.ts";

const DEBOUNCE_MS = 150;

interface PaletteProps extends PaletteDialogs {
  environmentId: string | null;
  onClose(): void;
}

/** A dialog that finds pages, environments, videos and actions by name. The focus stays in the text field. */
export function CommandPalette({ environmentId, onClose, ...dialogs }: PaletteProps) {
  return (
    <ModalOverlay
      className={`${controls.backdrop} ${css.backdrop}`}
      isDismissable
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      <Modal className={css.modal ?? ""}>
        <Dialog className={css.dialog ?? ""} aria-label={texts.palette.title}>
          <Palette environmentId={environmentId} onClose={onClose} {...dialogs} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Palette({ environmentId, onClose, ...dialogs }: PaletteProps) {
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const trimmed = text.trim();
  const { groups, isSearching } = useCommands(environmentId, trimmed, useDebounced(trimmed), dialogs);
  const commands = groups.flatMap((group) => group.commands);
  const [selectedId, setSelectedId] = useState<string | null>(null);
  const selected = commands.find(({ id }) => id === selectedId) ?? commands[0];

  useEffect(() => {
    if (selected === undefined) return;
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [selected]);

  const run = (command: Command) => {
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const index = selected === undefined ? -1 : commands.indexOf(selected);
    const targets: Record<string, number> = {
      ArrowDown: (index + 1) % commands.length,
      ArrowUp: (index - 1 + commands.length) % commands.length,
    };
    const target = targets[event.key];
    if (target !== undefined) {
      event.preventDefault();
      setSelectedId(commands[target]?.id ?? null);
    } else if (event.key === "Enter" && selected) {
      event.preventDefault();
      run(selected);
    }
  };

  return (
    <>
      <div className={css.field}>
        <SearchIcon />
        <input
          // biome-ignore lint/a11y/noAutofocus: a dialog that was opened to type into
          autoFocus
          role="combobox"
          aria-label={texts.palette.find}
          aria-expanded={commands.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={selected && `${listId}-${selected.id}`}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          placeholder={texts.palette.find}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setSelectedId(null);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={css.list} ref={list} id={listId} role="listbox" aria-label={texts.palette.results}>
        {groups.map(({ name, commands: members }) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, not of form fields
          <div key={name} role="group" aria-label={name}>
            <div className={css.group} aria-hidden="true">
              {name}
            </div>
            {members.map((command) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field
              <div
                key={command.id}
                id={`${listId}-${command.id}`}
                className={css.option}
                role="option"
                aria-selected={command === selected}
                onClick={() => run(command)}
                onPointerMove={() => setSelectedId(command.id)}
              >
                <bdi>{command.name}</bdi>
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className={commands.length > 0 || isSearching ? controls.hidden : css.empty} role="status">
        {commands.length > 0 ? texts.palette.count(commands.length) : !isSearching && texts.palette.noResults}
      </p>
    </>
  );
}

function useDebounced(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
