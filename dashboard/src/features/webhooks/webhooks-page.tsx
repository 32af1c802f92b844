import type {
  NewWebhookEndpoint,
  WebhookEndpointWithSecret,
} from "@subtext/client/contract/webhook-endpoint";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { request } from "../../admin-client/request.ts";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Secret } from "../../ui/copy.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { EmptyState, PageHeader, Section } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { EndpointForm } from "./endpoint-form.tsx";
import { EndpointTable } from "./endpoint-table.tsx";
import { endpointsQuery } from "./queries.ts";

export function WebhooksPage() {
  const environment = useEnvironment();
  const isOwner = useRole() === "owner";
  return (
    <>
      <PageHeader title={texts.title} description={texts.description(environment.name)}>
        {isOwner && <NewEndpoint environmentId={environment.id} />}
      </PageHeader>
      <Endpoints environmentId={environment.id} isOwner={isOwner} />
    </>
  );
}

function Endpoints({ environmentId, isOwner }: { environmentId: string; isOwner: boolean }) {
  const query = useQuery(endpointsQuery(environmentId));
  const endpoints = query.data;
  const now = useNow(10_000);
  if (!endpoints) return <LoadState query={query} />;
  if (endpoints.length === 0) {
    return <EmptyState title={texts.noneYet}>{isOwner ? texts.purpose : texts.askOwner}</EmptyState>;
  }
  return (
    <Section title={texts.endpoints}>
      <LoadState query={query} />
      <EndpointTable endpoints={endpoints} now={now} />
      {!isOwner && <p className={table.soft}>{texts.ownersOnly}</p>}
    </Section>
  );
}

function NewEndpoint({ environmentId }: { environmentId: string }) {
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
  // The focused element was removed along with the form.
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
