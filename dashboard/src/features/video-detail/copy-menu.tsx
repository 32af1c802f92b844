import { useState } from "react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button } from "../../ui/forms/controls.tsx";
import { CopyIcon } from "../../ui/icons.tsx";
import type { TranscriptController } from "./transcript/transcript-controller.ts";
import { plainText, quote, type Transcript, textWithTimestamps } from "./transcript/transcript-model.ts";

interface CopyMenuProps {
  transcript: Transcript;
  controller: TranscriptController | null;
  onCopy(text: string, what: string): void;
}

export function CopyMenu({ transcript, controller, onCopy }: CopyMenuProps) {
  // Read when the menu opens, because the menu takes focus and the selection may be lost.
  const [selected, setSelected] = useState<{ first: number; last: number } | null>(null);
  const actions: Record<string, () => void> = {
    selection: () => selected && onCopy(quote(transcript, selected), texts.selection),
    text: () => onCopy(plainText(transcript), texts.transcript),
    timestamps: () => onCopy(textWithTimestamps(transcript), texts.transcript),
  };
  return (
    <MenuTrigger onOpenChange={(open) => open && setSelected(controller?.selectedWords() ?? null)}>
      <Button variant="quiet" iconOnly aria-label={texts.copy}>
        <CopyIcon />
      </Button>
      <Popover className={controls.popover ?? ""} placement="bottom end">
        <Menu className={controls.menu ?? ""} aria-label={texts.copy} onAction={(key) => actions[key]?.()}>
          {selected && (
            <MenuItem id="selection" className={controls.item ?? ""}>
              {texts.selectionWithTimestamp}
            </MenuItem>
          )}
          <MenuItem id="text" className={controls.item ?? ""}>
            {texts.transcript}
          </MenuItem>
          <MenuItem id="timestamps" className={controls.item ?? ""}>
            {texts.withTimestamps}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
