import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { DialogTrigger } from "react-aria-components";
import { request } from "../../admin-client/request.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Secret } from "../../ui/copy.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Button, ErrorNotice, ModalDialog, Notice } from "../../ui/forms/controls.tsx";
import { Section } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { endpointKey } from "./queries.ts";
import { VerificationDialog } from "./verification-dialog.tsx";
import css from "./webhooks.module.css";

export function SigningSecret({ endpoint, isOwner }: { endpoint: WebhookEndpointView; isOwner: boolean }) {
  const queryClient = useQueryClient();
  const params = { id: endpoint.id };
  const reveal = useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/reveal-secret", { params }),
    gcTime: 0,
  });
  const rotate = useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/rotate-secret", { params }),
    // Not awaited: the page must show the new secret before the refetched endpoint announces the rotation.
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: endpointKey(endpoint.id) }),
    gcTime: 0,
  });
  const shown = rotate.data?.secret ?? reveal.data?.secret;
  return (
    <Section title="Signing secret" description="Verify each request with this secret (Standard Webhooks).">
      <ErrorNotice error={reveal.error} />
      {endpoint.previousSecretExpiresAt && (
        <Notice tone="plain">
          Until {formatDateTime(endpoint.previousSecretExpiresAt)}, every webhook is signed with both this
          secret and the previous one. Update your receiver by then.
        </Notice>
      )}
      {shown !== undefined && <Secret key={shown} label="Signing secret" value={shown} />}
      <div className={css.buttons}>
        {isOwner && shown === undefined && (
          <Button onPress={() => reveal.mutate()} isPending={reveal.isPending}>
            Show secret
          </Button>
        )}
        {isOwner && (
          <Confirm
            label="Rotate"
            accessibleName="Rotate signing secret"
            title="Rotate signing secret?"
            action={() => rotate.mutateAsync()}
          >
            For 24 hours, every webhook is signed with both the new and the current secret, so that your
            receiver can switch without missing any. Then the old secret stops working.
            {endpoint.previousSecretExpiresAt && " The previous secret stops working immediately."}
          </Confirm>
        )}
        <DialogTrigger>
          <Button>Verification code samples</Button>
          <ModalDialog title="Verify a webhook">
            {(close) => <VerificationDialog close={close} />}
          </ModalDialog>
        </DialogTrigger>
      </div>
      {!isOwner && <p className={table.soft}>Only an owner can view and rotate the secret.</p>}
    </Section>
  );
}
