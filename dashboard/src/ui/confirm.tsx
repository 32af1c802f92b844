import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { DialogTrigger } from "react-aria-components";
import { messageOf } from "../admin-client/request.ts";
import controls from "./controls.module.css";
import { Button, ModalDialog, Notice } from "./controls.tsx";

/** A button whose deed is asked about once more before it is done. */
export function Confirm({
  label,
  name = label,
  title,
  children,
  act,
}: {
  /** On both buttons. */
  label: string;
  /** The first button's name for those who do not see what stands around it. */
  name?: string;
  title: string;
  /** What will be, in words. */
  children: ReactNode;
  act(): Promise<unknown>;
}) {
  const deed = useMutation({ mutationFn: act });
  return (
    <DialogTrigger onOpenChange={() => deed.reset()}>
      <Button look="danger" aria-label={name}>
        {label}
      </Button>
      <ModalDialog title={title}>
        {(close) => (
          <>
            <p>{children}</p>
            {deed.error && <Notice tone="bad">{messageOf(deed.error)}</Notice>}
            <div className={controls.actions}>
              <Button onPress={close}>Cancel</Button>
              <Button
                look="danger"
                isPending={deed.isPending}
                onPress={() => deed.mutate(undefined, { onSuccess: close })}
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
