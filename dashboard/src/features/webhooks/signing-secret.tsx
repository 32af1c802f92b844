import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { DialogTrigger } from "react-aria-components";
import { messageOf, request } from "../../admin-client/request.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Button, ModalDialog, Notice } from "../../ui/controls.tsx";
import { Secret, Section } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { endpointKey } from "./queries.ts";
import { moment } from "./texts.ts";
import { VerifyCode } from "./verification-dialog.tsx";
import css from "./webhooks.module.css";

/** What signs the webhooks of an endpoint; its text is for owners alone. */
export function SigningSecret({ endpoint, isOwner }: { endpoint: WebhookEndpointView; isOwner: boolean }) {
  const queryClient = useQueryClient();
  const params = { id: endpoint.id };
  const reveal = useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/reveal-secret", { params }),
    gcTime: 0,
  });
  const rotate = useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/rotate-secret", { params }),
    // Not awaited: the page must not say that the secret was rotated while it still shows the old one.
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: endpointKey(endpoint.id) }),
    gcTime: 0,
  });
  const shown = rotate.data?.secret ?? reveal.data?.secret;
  return (
    <Section title="Signing secret" lead="Verify each request with this secret (Standard Webhooks).">
      {reveal.error && <Notice tone="bad">{messageOf(reveal.error)}</Notice>}
      {endpoint.previousSecretExpiresAt && (
        <Notice tone="plain">
          Until {moment(endpoint.previousSecretExpiresAt)} every webhook carries two signatures: of this
          secret and of the previous one. Update your receiver by then.
        </Notice>
      )}
      {shown !== undefined && <Secret key={shown} name="Signing secret" value={shown} />}
      <div className={css.buttons}>
        {isOwner && shown === undefined && (
          <Button onPress={() => reveal.mutate()} isPending={reveal.isPending}>
            Show secret
          </Button>
        )}
        {isOwner && (
          <Confirm
            label="Rotate"
            name="Rotate the secret"
            title="Rotate signing secret?"
            act={() => rotate.mutateAsync()}
          >
            For 24 hours every webhook carries two signatures, of the new secret and of the current one, so
            that your receiver can switch without missing any. Then the old secret stops working.
            {endpoint.previousSecretExpiresAt && " The previous secret stops working immediately."}
          </Confirm>
        )}
        <DialogTrigger>
          <Button>Verification code samples</Button>
          <ModalDialog title="Verify a webhook">{(close) => <VerifyCode close={close} />}</ModalDialog>
        </DialogTrigger>
      </div>
      {!isOwner && <p className={table.soft}>Only an owner can see and rotate it.</p>}
    </Section>
  );
}
