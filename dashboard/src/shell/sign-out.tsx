import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { request } from "../admin-client/request.ts";
import { useUploads } from "../features/uploads/use-uploads.ts";

const SignOutDialog = lazy(async () => ({
  default: (await import("./sign-out-dialog.tsx")).SignOutDialog,
}));

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
  const dialog = isConfirming && (
    <Suspense fallback={null}>
      <SignOutDialog
        uploadsRun={uploads.isBusy}
        error={signOut.error}
        isPending={signOut.isPending}
        onConfirm={() => signOut.mutate()}
        onClose={() => setConfirming(false)}
      />
    </Suspense>
  );
  return { start: () => (uploads.isBusy ? setConfirming(true) : signOut.mutate()), dialog };
}
