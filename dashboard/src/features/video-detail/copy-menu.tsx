import { useState } from "react";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { ActionMenu } from "../../ui/action-menu/action-menu.tsx";
import { CopyIcon } from "../../ui/icons.tsx";
import type { TranscriptController } from "./transcript/transcript-controller.ts";
import { plainText, quote, type Transcript, textWithTimestamps } from "./transcript/transcript-model.ts";

interface CopyMenuProps {
  transcript: Transcript;
  controller: TranscriptController | null;
  onCopy(text: string, what: string): void;
}

export function CopyMenu({ transcript, controller, onCopy }: CopyMenuProps) {
  // Read before the menu opens, because the menu takes focus and the selection may be lost.
  const [selected, setSelected] = useState<{ first: number; last: number } | null>(null);
  const actions = [
    { name: texts.transcript, run: () => onCopy(plainText(transcript), texts.transcript) },
    { name: texts.withTimestamps, run: () => onCopy(textWithTimestamps(transcript), texts.transcript) },
  ];
  const copySelection = selected && {
    name: texts.selectionWithTimestamp,
    run: () => onCopy(quote(transcript, selected), texts.selection),
  };
  return (
    <ActionMenu
      label={texts.copy}
      actions={copySelection ? [copySelection, ...actions] : actions}
      onPressStart={() => setSelected(controller?.selectedWords() ?? null)}
    >
      <CopyIcon />
    </ActionMenu>
  );
}
