import { RECENT_HOURS, type WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { Link } from "@tanstack/react-router";
import { ui } from "../../messages/en/ui.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { formatAgo, formatDateTime } from "../../ui/format.ts";
import table from "../../ui/table.module.css";
import { eventName, healthBadge, recentText, responseText, statusBadge } from "./texts.ts";

export function EndpointTable({
  endpoints,
  now,
}: {
  endpoints: readonly WebhookEndpointView[];
  now: number;
}) {
  return (
    <DataTable
      label={texts.webhookEndpoints}
      columns={[texts.endpoint, texts.health, texts.latestDelivery, texts.lastHours(RECENT_HOURS)]}
    >
      {endpoints.map((endpoint) => (
        <tr key={endpoint.id}>
          <td>
            <Link
              className={table.name}
              to="/environments/$environmentId/webhooks/$endpointId"
              params={{ environmentId: endpoint.environmentId, endpointId: endpoint.id }}
            >
              {endpoint.url}
            </Link>
            <div className={table.soft}>{endpoint.eventTypes.map(eventName).join(", ")}</div>
          </td>
          <td data-column={texts.health}>
            <div>
              <Badge {...healthBadge(endpoint)} />
              <HealthDetail endpoint={endpoint} />
            </div>
          </td>
          <td data-column={texts.latestDelivery}>
            <Latest endpoint={endpoint} now={now} />
          </td>
          <td data-column={texts.lastHours(RECENT_HOURS)}>{recentText(endpoint)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

export function HealthDetail({ endpoint }: { endpoint: WebhookEndpointView }) {
  const { enabled, disabledAt, disabledReason, failingSince } = endpoint;
  if (!enabled && disabledAt) {
    return (
      <div className={table.soft}>
        <span lang="en">{disabledReason}</span> {texts.disabledSince(formatDateTime(disabledAt))}
      </div>
    );
  }
  if (failingSince)
    return <div className={table.soft}>{texts.failingSince(formatDateTime(failingSince))}</div>;
  return null;
}

function Latest({ endpoint, now }: { endpoint: WebhookEndpointView; now: number }) {
  const { latest } = endpoint.health;
  if (!latest) return ui.none;
  const response = latest.statusCode === null && latest.failure === null ? null : responseText(latest);
  return (
    <div>
      {statusBadge(latest.status).label}, {formatAgo(latest.createdAt, now)}
      {response && <div className={table.soft}>{response}</div>}
    </div>
  );
}
