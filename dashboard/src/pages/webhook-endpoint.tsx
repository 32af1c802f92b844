import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { RECENT_HOURS, type WebhookEndpointView } from "../contract/webhook.ts";
import { messageOf, ProblemError } from "../data/request.ts";
import { endpointQuery } from "../data/webhooks.ts";
import { Notice } from "../design/controls.tsx";
import { BackIcon } from "../design/icons.tsx";
import { Badge } from "../parts/badge.tsx";
import { Code } from "../parts/code.tsx";
import { Loading, PageHeader, Section } from "../parts/page.tsx";
import { useMe } from "../parts/use-me.ts";
import { DeliveryList } from "../parts/webhooks/delivery-list.tsx";
import { EndpointActions } from "../parts/webhooks/endpoint-actions.tsx";
import { HealthDetail } from "../parts/webhooks/endpoint-table.tsx";
import { SigningSecret } from "../parts/webhooks/signing-secret.tsx";
import { TestEventButton, TestEventResult, useTestEvent } from "../parts/webhooks/test-event.tsx";
import css from "../parts/webhooks/webhooks.module.css";
import { EVENT_WORDS, healthOf, moment, recentInWords } from "../parts/webhooks/words.ts";
import { NotFoundPage } from "./fault.tsx";

const PATH = "/signed-in/environments/$environmentId/webhooks/$endpointId";

export function WebhookEndpointPage() {
  const { environmentId, endpointId } = useParams({ from: PATH });
  const { data: endpoint, error } = useQuery(endpointQuery(endpointId));
  const isGone = error instanceof ProblemError && error.code === "webhook_endpoint_not_found";
  if (isGone || (endpoint && endpoint.environmentId !== environmentId)) return <NotFoundPage />;
  if (error && !endpoint) return <Notice tone="bad">{messageOf(error)}</Notice>;
  if (!endpoint) return <Loading />;
  return <Endpoint key={endpoint.id} endpoint={endpoint} />;
}

function Endpoint({ endpoint }: { endpoint: WebhookEndpointView }) {
  const { isOwner } = useMe();
  const filter = useSearch({ from: PATH });
  const navigate = useNavigate({ from: "/environments/$environmentId/webhooks/$endpointId" });
  const test = useTestEvent(endpoint.id);
  return (
    <>
      <Link
        className={css.back}
        to="/environments/$environmentId/webhooks"
        params={{ environmentId: endpoint.environmentId }}
      >
        <BackIcon /> Webhooks
      </Link>
      <PageHeader title="Webhook endpoint" lead={<span className={css.url}>{endpoint.url}</span>}>
        {isOwner && endpoint.enabled && <TestEventButton test={test} />}
      </PageHeader>
      <div className={css.result}>
        <TestEventResult endpointId={endpoint.id} test={test} />
      </div>
      <Settings endpoint={endpoint} isOwner={isOwner} />
      <Section title="Deliveries">
        <DeliveryList
          environmentId={endpoint.environmentId}
          endpointId={endpoint.id}
          filter={filter}
          onFilter={(search) => navigate({ search, replace: true, resetScroll: false })}
          canRedeliver={isOwner && endpoint.enabled}
        />
      </Section>
      <SigningSecret endpoint={endpoint} isOwner={isOwner} />
    </>
  );
}

function Settings({ endpoint, isOwner }: { endpoint: WebhookEndpointView; isOwner: boolean }) {
  const { metadata, eventTypes, createdAt, id } = endpoint;
  return (
    <Section title="Endpoint">
      <dl className={css.facts}>
        <dt>Health</dt>
        <dd>
          <Badge {...healthOf(endpoint)} />
          <HealthDetail endpoint={endpoint} />
        </dd>
        <dt>Last {RECENT_HOURS} hours</dt>
        <dd>{recentInWords(endpoint)}</dd>
        <dt>Events</dt>
        <dd>{eventTypes.map((type) => EVENT_WORDS[type].name).join(", ")}</dd>
        <dt>Created</dt>
        <dd>{moment(createdAt)}</dd>
        <dt>ID</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </dl>
      {Object.keys(metadata).length > 0 && <Code name="Metadata" text={JSON.stringify(metadata, null, 2)} />}
      {isOwner && <EndpointActions endpoint={endpoint} />}
    </Section>
  );
}
