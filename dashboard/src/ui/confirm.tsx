import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { DialogTrigger } from "react-aria-components";
import { forms } from "../messages/en/forms.ts";
import controls from "./forms/controls.module.css";
import { Button, ErrorNotice } from "./forms/controls.tsx";
import { ModalDialog } from "./forms/modal-dialog.tsx";

/** A button that asks for confirmation before it runs its action. */
export function Confirm({
  label,
  accessibleName = label,
  title,
  children,
  action,
}: {
  /** Label of both buttons. */
  label: string;
  /** Accessible name of the first button. */
  accessibleName?: string;
  title: string;
  /** Describes the consequences. */
  children: ReactNode;
  action(): Promise<unknown>;
}) {
  const confirmed = useMutation({ mutationFn: action });
  return (
    <DialogTrigger onOpenChange={() => confirmed.reset()}>
      <Button variant="danger" aria-label={accessibleName}>
        {label}
      </Button>
      <ModalDialog title={title}>
        {(close) => (
          <>
            <p>{children}</p>
            <ErrorNotice error={confirmed.error} />
            <div className={controls.actions}>
              <Button onPress={close}>{forms.cancel}</Button>
              <Button
                variant="danger"
                isPending={confirmed.isPending}
                onPress={() => confirmed.mutate(undefined, { onSuccess: close })}
              >
                {label}
              </Button>
            </div>
          </>
        )}
      </ModalDialog>
    </DialogTrigger>
  );
}
