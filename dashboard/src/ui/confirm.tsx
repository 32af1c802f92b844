import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { ui as texts } from "../messages/en/ui.ts";
import { Button, Form, FormActions, TextField } from "./forms/controls.tsx";
import { ModalDialog } from "./forms/modal-dialog.tsx";

interface ConfirmationProps {
  /** Label of the button that runs the action. */
  label: string;
  /**
   * What the operator must type first, such as the name of the video. Require it if data or access is lost for good:
   * deleting videos, recordings or an endpoint with its history, or revoking a key that programs use. Do not require it
   * for what can be restored in a minute, such as disabling an endpoint or removing an operator. Otherwise, people get
   * used to typing without reading.
   */
  typed?: string;
  /** Describes the consequences. */
  children: ReactNode;
  action(): Promise<unknown>;
}

/** A button that asks for confirmation before it runs its action. */
export function Confirm({
  accessibleName,
  title,
  ...confirmation
}: ConfirmationProps & {
  /** Accessible name of the first button, if it differs from the label. */
  accessibleName?: string;
  title: string;
}) {
  const { label } = confirmation;
  return (
    <DialogTrigger>
      <Button variant="danger" aria-label={accessibleName ?? label}>
        {label}
      </Button>
      <ModalDialog title={title}>{(close) => <Confirmation {...confirmation} close={close} />}</ModalDialog>
    </DialogTrigger>
  );
}

/** The content of a dialog that asks for confirmation. */
export function Confirmation({
  label,
  typed: expected,
  children,
  action,
  close,
}: ConfirmationProps & { close(): void }) {
  const [typed, setTyped] = useState("");
  const confirmed = useMutation({ mutationFn: action, onSuccess: close });
  const isConfirmed = expected === undefined || isSame(typed, expected);
  return (
    <Form onSubmit={() => isConfirmed && confirmed.mutate()} error={confirmed.error}>
      <p>{children}</p>
      {expected !== undefined && (
        <TextField
          label={texts.typeToConfirm(expected)}
          value={typed}
          onChange={setTyped}
          autoFocus
          autoComplete="off"
        />
      )}
      <FormActions
        submitLabel={label}
        variant="danger"
        isPending={confirmed.isPending}
        isDisabled={!isConfirmed}
        onCancel={close}
      />
    </Form>
  );
}

/** Ignores differences that the operator cannot see, and the separators of a number. */
function isSame(typed: string, expected: string): boolean {
  const clean = (text: string) =>
    text
      .normalize("NFC")
      .replace(/\p{Cf}/gu, "")
      .replace(/\s+/g, " ")
      .trim();
  if (/^\d+$/.test(expected)) return typed.replace(/[\s.,]/g, "") === expected;
  return clean(typed) === clean(expected);
}
