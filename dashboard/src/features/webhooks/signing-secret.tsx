import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { DialogTrigger } from "react-aria-components";
import { request } from "../../admin-client/request.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Secret } from "../../ui/copy.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Button, ErrorNotice, Notice } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
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
    <Section title={texts.signingSecret} description={texts.signingSecretHint}>
      <ErrorNotice error={reveal.error} />
      {endpoint.previousSecretExpiresAt && (
        <Notice tone="plain">{texts.signedWithBoth(formatDateTime(endpoint.previousSecretExpiresAt))}</Notice>
      )}
      {shown !== undefined && <Secret key={shown} label={texts.signingSecret} value={shown} />}
      <div className={css.buttons}>
        {isOwner && shown === undefined && (
          <Button onPress={() => reveal.mutate()} isPending={reveal.isPending}>
            {texts.showSecret}
          </Button>
        )}
        {isOwner && (
          <Confirm
            label={texts.rotate}
            accessibleName={texts.rotateSecret}
            title={texts.rotateQuestion}
            action={() => rotate.mutateAsync()}
          >
            {texts.rotateEffect}
            {endpoint.previousSecretExpiresAt && ` ${texts.previousStops}`}
          </Confirm>
        )}
        <DialogTrigger>
          <Button>{texts.codeSamples}</Button>
          <ModalDialog title={texts.verifyTitle}>
            {(close) => <VerificationDialog close={close} />}
          </ModalDialog>
        </DialogTrigger>
      </div>
      {!isOwner && <p className={table.soft}>{texts.secretOwnersOnly}</p>}
    </Section>
  );
}
