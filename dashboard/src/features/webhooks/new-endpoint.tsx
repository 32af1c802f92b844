import type {
  NewWebhookEndpoint,
  WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { request } from "../../admin-client/request.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Secret } from "../../ui/copy.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { endpointsQuery } from "./queries.ts";

export function NewEndpoint({ environmentId }: { environmentId: string }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<WebhookEndpointWithSecret | null>(null);
  const close = () => {
    setOpen(false);
    if (!created) return;
    const params = { environmentId, endpointId: created.id };
    void navigate({ to: "/environments/$environmentId/webhooks/$endpointId", params });
  };
  const save = async (body: NewWebhookEndpoint) => {
    const params = { environment: environmentId };
    setCreated(await request("POST /environments/:environment/webhook-endpoints", { params, body }));
    await queryClient.invalidateQueries(endpointsQuery(environmentId));
  };
  return (
    <>
      <Button variant="primary" onPress={() => setOpen(true)}>
        <PlusIcon /> {texts.newEndpoint}
      </Button>
      <ModalDialog
        title={created ? texts.signingSecret : texts.newWebhookEndpoint}
        isOpen={isOpen}
        onOpenChange={(opens) => !opens && close()}
      >
        {() =>
          created ? (
            <CreatedEndpoint created={created} close={close} />
          ) : (
            <EndpointForm saveLabel={texts.createEndpoint} save={save} onCancel={close} />
          )
        }
      </ModalDialog>
    </>
  );
}

function CreatedEndpoint({ created, close }: { created: WebhookEndpointWithSecret; close(): void }) {
  const text = useRef<HTMLParagraphElement>(null);
  // The element with the focus was removed with the form.
  useEffect(() => text.current?.focus(), []);
  return (
    <>
      <p ref={text} tabIndex={-1}>
        {texts.verifySignatures}
      </p>
      <Secret label={texts.signingSecret} value={created.secret} />
      <div className={controls.actions}>
        <Button variant="primary" onPress={close}>
          {texts.viewEndpoint}
        </Button>
      </div>
    </>
  );
}
