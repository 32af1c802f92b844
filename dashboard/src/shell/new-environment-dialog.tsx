import { useNavigate } from "@tanstack/react-router";
import { EnvironmentForm } from "../features/environments/environment-form.tsx";
import { shell as texts } from "../messages/en/shell.ts";
import { ModalDialog } from "../ui/forms/modal-dialog.tsx";

/** Creates an environment and opens it. */
export function NewEnvironmentDialog({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean;
  onOpenChange(isOpen: boolean): void;
}) {
  const navigate = useNavigate();
  return (
    <ModalDialog title={texts.newEnvironment} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => (
        <EnvironmentForm
          onCancel={close}
          onCreated={({ id }) => {
            close();
            void navigate({ to: "/environments/$environmentId/videos", params: { environmentId: id } });
          }}
        />
      )}
    </ModalDialog>
  );
}
