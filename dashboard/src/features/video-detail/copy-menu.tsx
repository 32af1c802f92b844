import { useState } from "react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import controls from "../../ui/controls.module.css";
import { Button } from "../../ui/controls.tsx";
import { CopyIcon } from "../../ui/icons.tsx";
import type { TranscriptView } from "./transcript-controller.ts";
import { quote, textWithTimes, wholeText } from "./transcript-copy.ts";
import type { Transcript } from "./transcript-model.ts";

interface CopyMenuProps {
  transcript: Transcript;
  view: TranscriptView | null;
  onCopy(text: string, what: string): void;
}

export function CopyMenu({ transcript, view, onCopy }: CopyMenuProps) {
  // As it was when the menu opened: the menu takes the focus.
  const [selected, setSelected] = useState<{ first: number; last: number } | null>(null);
  const ways: Record<string, () => void> = {
    selection: () => selected && onCopy(quote(transcript, selected), "Selection"),
    text: () => onCopy(wholeText(transcript), "Transcript"),
    times: () => onCopy(textWithTimes(transcript), "Transcript"),
  };
  return (
    <MenuTrigger onOpenChange={(open) => open && setSelected(view?.selectedWords() ?? null)}>
      <Button look="quiet" square aria-label="Copy">
        <CopyIcon />
      </Button>
      <Popover className={controls.popover ?? ""} placement="bottom end">
        <Menu className={controls.menu ?? ""} aria-label="Copy" onAction={(way) => ways[way]?.()}>
          {selected && (
            <MenuItem id="selection" className={controls.item ?? ""}>
              Selection with timestamp
            </MenuItem>
          )}
          <MenuItem id="text" className={controls.item ?? ""}>
            Transcript
          </MenuItem>
          <MenuItem id="times" className={controls.item ?? ""}>
            Transcript with timestamps
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
