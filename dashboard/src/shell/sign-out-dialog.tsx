import { forms } from "../messages/en/forms.ts";
import { shell as texts } from "../messages/en/shell.ts";
import controls from "../ui/forms/controls.module.css";
import { Button, ErrorNotice } from "../ui/forms/controls.tsx";
import { ModalDialog } from "../ui/forms/modal-dialog.tsx";

export function SignOutDialog({
  uploadsRun,
  error,
  isPending,
  onConfirm,
  onClose,
}: {
  uploadsRun: boolean;
  error: unknown;
  isPending: boolean;
  onConfirm(): void;
  onClose(): void;
}) {
  return (
    <ModalDialog title={texts.signOutQuestion} isOpen onOpenChange={onClose}>
      {() => (
        <>
          {uploadsRun && <p>{texts.uploadsStop}</p>}
          <ErrorNotice error={error} />
          <div className={controls.actions}>
            <Button onPress={onClose}>{forms.cancel}</Button>
            <Button variant="primary" onPress={onConfirm} isPending={isPending}>
              {texts.signOut}
            </Button>
          </div>
        </>
      )}
    </ModalDialog>
  );
}
