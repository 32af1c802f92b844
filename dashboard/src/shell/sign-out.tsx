import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { request } from "../admin-client/request.ts";
import { useUploads } from "../features/uploads/use-uploads.ts";
import { forms } from "../messages/en/forms.ts";
import { shell as texts } from "../messages/en/shell.ts";
import controls from "../ui/forms/controls.module.css";
import { Button, ErrorNotice, ModalDialog } from "../ui/forms/controls.tsx";

/** Signs out. The dialog, which the caller renders, asks for confirmation while uploads are running. */
export function useSignOut(): { start(): void; dialog: ReactNode } {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { uploads } = useUploads();
  const [isConfirming, setConfirming] = useState(false);
  const signOut = useMutation({
    mutationFn: () => request("POST /auth/sign-out"),
    onSuccess: async () => {
      // The next operator must not see this operator's data and uploads.
      await uploads.stop();
      await navigate({ to: "/sign-in" });
      queryClient.removeQueries({ type: "inactive" });
    },
    onError: () => setConfirming(true),
  });
  const dialog = (
    <ModalDialog title={texts.signOutQuestion} isOpen={isConfirming} onOpenChange={setConfirming}>
      {(close) => (
        <>
          {uploads.isBusy && <p>{texts.uploadsStop}</p>}
          <ErrorNotice error={signOut.error} />
          <div className={controls.actions}>
            <Button onPress={close}>{forms.cancel}</Button>
            <Button variant="primary" onPress={() => signOut.mutate()} isPending={signOut.isPending}>
              {texts.signOut}
            </Button>
          </div>
        </>
      )}
    </ModalDialog>
  );
  return { start: () => (uploads.isBusy ? setConfirming(true) : signOut.mutate()), dialog };
}
