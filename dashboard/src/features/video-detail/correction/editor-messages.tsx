import { useState } from "react";
import { messageOf } from "../../../admin-client/request.ts";
import { correction as texts } from "../../../messages/en/correction.ts";
import { ui } from "../../../messages/en/ui.ts";
import controls from "../../../ui/forms/controls.module.css";
import { Button, Notice } from "../../../ui/forms/controls.tsx";
import { CloseIcon } from "../../../ui/icons.tsx";
import type { EditingSession, SessionState } from "./editing-session.ts";
import editorCss from "./transcript-editor.module.css";

/** Reports failed saves, restored changes and merges. */
export function EditorMessages({
  session,
  state,
  onDiscard,
}: {
  session: EditingSession;
  state: SessionState;
  onDiscard(): void;
}) {
  const [seenMerges, setSeenMerges] = useState(0);
  return (
    <div className={editorCss.messages}>
      {state.save === "refused" && (
        <Notice tone="bad">
          {messageOf(state.error)} {texts.keptInBrowser}{" "}
          <Button onPress={() => void session.save()}>{ui.tryAgain}</Button>{" "}
          <Button
            onPress={async () => {
              await session.discard();
              onDiscard();
            }}
          >
            {texts.discard}
          </Button>
        </Notice>
      )}
      {state.wasRestored && <Notice tone="plain">{texts.restored}</Notice>}
      {state.merges > seenMerges && (
        <Notice tone="plain">
          {texts.merged}{" "}
          <Button
            variant="quiet"
            iconOnly
            aria-label={texts.dismiss}
            onPress={() => setSeenMerges(state.merges)}
          >
            <CloseIcon />
          </Button>
        </Notice>
      )}
      {state.conflicts.length > 0 && (
        <Notice tone="plain">
          <p>{texts.conflicts}</p>
          <ul>
            {state.conflicts.map(({ mine, theirs }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: conflicts have no identity
              <li key={index}>{texts.conflict(mine || texts.deleted, theirs || texts.deleted)}</li>
            ))}
          </ul>
          <Button onPress={() => session.dismissConflicts()}>{texts.dismiss}</Button>
        </Notice>
      )}
      <p className={controls.hidden} role="status">
        {state.save === "retrying" ? messageOf(state.error) : ""}
      </p>
    </div>
  );
}
