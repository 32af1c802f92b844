import { useCallback } from "react";
import { ui as texts } from "../../messages/en/ui.ts";
import { useToast } from "./toasts.tsx";

export interface UndoableChange<Values> {
  previous: Values;
  saved: Values;
  read(): Promise<Values>;
  restore(previous: Values): Promise<unknown>;
}

/**
 * Returns a function that confirms a change and offers to undo it. Use it only if restoring the values restores
 * everything: not if the change deleted, sent or canceled something. Does not overwrite a later change.
 */
export function useUndo(): <Values>(text: string, change: UndoableChange<Values>) => void {
  const showToast = useToast();
  return useCallback(
    (text, { previous, saved, read, restore }) =>
      showToast(text, {
        label: texts.undo,
        async run() {
          if (JSON.stringify(await read()) !== JSON.stringify(saved)) throw new Error(texts.changedSince);
          await restore(previous);
          showToast(texts.undone);
        },
      }),
    [showToast],
  );
}
