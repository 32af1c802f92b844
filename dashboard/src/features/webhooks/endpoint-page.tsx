import { RECENT_HOURS, type WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ProblemError, request } from "../../admin-client/request.ts";
import { useRole } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { formatNumber } from "../../messages/numbers.ts";
import { Badge } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/copy.tsx";
import { NotFoundPage } from "../../ui/error-pages.tsx";
import { formatDateTime, formatUntil } from "../../ui/format.ts";
import { Button, ErrorNotice, Notice } from "../../ui/forms/controls.tsx";
import { BackIcon } from "../../ui/icons.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import page from "../../ui/page.module.css";
import { PageHeader, Section } from "../../ui/page.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { EndpointActions } from "./endpoint-actions.tsx";
import { HealthDetail } from "./endpoint-table.tsx";
import { deliveryQuery, endpointKey, endpointQuery } from "./queries.ts";
import { SigningSecret } from "./signing-secret.tsx";
import { eventName, healthBadge, recentText, responseText } from "./texts.ts";
import css from "./webhooks.module.css";

const PATH = "/signed-in/environments/$environmentId/webhooks/$endpointId";

export function EndpointPage() {
  const { environmentId, endpointId } = useParams({ from: PATH });
  const query = useQuery(endpointQuery(endpointId));
  const test = useTestEvent(endpointId);
  const isOwner = useRole() === "owner";
  const { data: endpoint, error } = query;
  const isDeleted = error instanceof ProblemError && error.code === "webhook_endpoint_not_found";
  if (isDeleted || (endpoint && endpoint.environmentId !== environmentId)) return <NotFoundPage />;
  return (
    <>
      <Link className={page.back} to="/environments/$environmentId/webhooks" params={{ environmentId }}>
        <BackIcon /> {texts.title}
      </Link>
      <PageHeader
        title={texts.webhookEndpoint}
        description={endpoint && <span className={css.url}>{endpoint.url}</span>}
      >
        {isOwner && endpoint?.enabled && <TestEventButton test={test} />}
      </PageHeader>
      <div className={css.result}>
        <TestEventResult endpointId={endpointId} test={test} />
        <LoadState query={query} />
      </div>
      {endpoint && <Endpoint endpoint={endpoint} isOwner={isOwner} />}
    </>
  );
}

function Endpoint({ endpoint, isOwner }: { endpoint: WebhookEndpointView; isOwner: boolean }) {
  const filter = useSearch({ from: PATH });
  const navigate = useNavigate({ from: "/environments/$environmentId/webhooks/$endpointId" });
  return (
    <>
      <Settings endpoint={endpoint} isOwner={isOwner} />
      <Section title={texts.deliveries}>
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
    <Section title={texts.endpoint}>
      <dl className={css.facts}>
        <dt>{texts.health}</dt>
        <dd>
          <Badge {...healthBadge(endpoint)} />
          <HealthDetail endpoint={endpoint} />
        </dd>
        <dt>{texts.lastHours(RECENT_HOURS)}</dt>
        <dd>{recentText(endpoint)}</dd>
        <dt>{texts.events}</dt>
        <dd>{eventTypes.map(eventName).join(", ")}</dd>
        <dt>{texts.created}</dt>
        <dd>{formatDateTime(createdAt)}</dd>
        <dt>{texts.id}</dt>
        <dd>
          <code>{id}</code>
        </dd>
      </dl>
      {Object.keys(metadata).length > 0 && (
        <CodeBlock label={texts.metadata} text={JSON.stringify(metadata, null, 2)} />
      )}
      {isOwner && <EndpointActions endpoint={endpoint} />}
    </Section>
  );
}

function useTestEvent(endpointId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/test", { params: { id: endpointId } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) }),
  });
}

function TestEventButton({ test }: { test: ReturnType<typeof useTestEvent> }) {
  return (
    <Button variant="primary" onPress={() => test.mutate()} isPending={test.isPending}>
      {texts.sendTest}
    </Button>
  );
}

function TestEventResult({
  endpointId,
  test,
}: {
  endpointId: string;
  test: ReturnType<typeof useTestEvent>;
}) {
  if (test.error) return <ErrorNotice error={test.error} />;
  if (!test.data) return null;
  return <Result key={test.data.id} endpointId={endpointId} deliveryId={test.data.id} />;
}

function Result({ endpointId, deliveryId }: { endpointId: string; deliveryId: string }) {
  const now = useNow(1_000);
  const { data: delivery, error } = useQuery(deliveryQuery(endpointId, deliveryId));
  if (error && !delivery) return <ErrorNotice error={error} />;
  const last = delivery?.attempts.at(-1);
  if (!last && delivery?.status === "canceled") return <Notice tone="bad">{texts.testCanceled}</Notice>;
  if (!delivery || !last) return <Notice tone="plain">{texts.sendingTest}</Notice>;
  const result = `${responseText(last)} (${formatNumber(last.latencyMs)} ms).`;
  if (delivery.status === "succeeded") return <Notice tone="good">{texts.testReceived(result)}</Notice>;
  return (
    <Notice tone="bad">
      {texts.testFailed(result)}
      {delivery.nextAttemptAt && ` ${texts.nextRetryWhen(formatUntil(delivery.nextAttemptAt, now))}`}
    </Notice>
  );
}
