import type {
  NewWebhookEndpoint,
  WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { request } from "../../admin-client/request.ts";
import controls from "../../ui/controls.module.css";
import { Button, ModalDialog } from "../../ui/controls.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { Secret } from "../../ui/page.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { endpointsQuery } from "./queries.ts";

export function NewEndpoint({ environmentId }: { environmentId: string }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<WebhookEndpointWithSecret | null>(null);
  const close = () => {
    setOpen(false);
    if (!made) return;
    const params = { environmentId, endpointId: made.id };
    void navigate({ to: "/environments/$environmentId/webhooks/$endpointId", params });
  };
  const save = async (body: NewWebhookEndpoint) => {
    const params = { environment: environmentId };
    setMade(await request("POST /environments/:environment/webhook-endpoints", { params, body }));
    await queryClient.invalidateQueries(endpointsQuery(environmentId));
  };
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        <PlusIcon /> New endpoint
      </Button>
      <ModalDialog
        title={made ? "Signing secret" : "New webhook endpoint"}
        isOpen={isOpen}
        onOpenChange={(wanted) => !wanted && close()}
      >
        {() =>
          made ? (
            <MadeEndpoint made={made} close={close} />
          ) : (
            <EndpointForm saveLabel="Create endpoint" save={save} onCancel={close} />
          )
        }
      </ModalDialog>
    </>
  );
}

function MadeEndpoint({ made, close }: { made: WebhookEndpointWithSecret; close(): void }) {
  const text = useRef<HTMLParagraphElement>(null);
  // What had the focus is gone.
  useEffect(() => text.current?.focus(), []);
  return (
    <>
      <p ref={text} tabIndex={-1}>
        Always verify signatures. Sample code and this secret are on the endpoint page.
      </p>
      <Secret name="Signing secret" value={made.secret} />
      <div className={controls.actions}>
        <Button look="primary" onPress={close}>
          View endpoint
        </Button>
      </div>
    </>
  );
}
