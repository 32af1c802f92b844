import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { DeliveryView } from "@subtext/server/admin/contract/webhook";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { useNow } from "../../hooks/use-now.ts";
import { ui } from "../../messages/en/ui.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Badge } from "../../ui/badge.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { formatAgo, formatUntil } from "../../ui/format.ts";
import { Button } from "../../ui/forms/controls.tsx";
import { Select } from "../../ui/forms/form-fields.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { ShowMore } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { videoName } from "../../ui/video-state.tsx";
import { DeliveryDetail } from "./delivery-detail.tsx";
import { type DeliveryFilter, deliveriesQuery } from "./queries.ts";
import { RedeliverFailed } from "./redeliver-failed.tsx";
import {
  eventName,
  responseText,
  SENDING_BADGE,
  SENT_EVENT_NAMES,
  STATUS_BADGES,
  statusBadge,
} from "./texts.ts";
import css from "./webhooks.module.css";

const ALL = "all";
const STATUS_OPTIONS: Record<DeliveryStatus | typeof ALL, string> = {
  all: texts.all,
  pending: STATUS_BADGES.pending.label,
  succeeded: STATUS_BADGES.succeeded.label,
  failed: STATUS_BADGES.failed.label,
  canceled: STATUS_BADGES.canceled.label,
};
const EVENT_OPTIONS: Record<SentEventType | typeof ALL, string> = { all: texts.all, ...SENT_EVENT_NAMES };

interface DeliveryListProps {
  environmentId: string;
  endpointId: string;
  filter: DeliveryFilter;
  onFilter(filter: DeliveryFilter): void;
  canRedeliver: boolean;
}

export function DeliveryList(props: DeliveryListProps) {
  const { environmentId, endpointId, filter, onFilter, canRedeliver } = props;
  const deliveries = useInfiniteQuery(deliveriesQuery(endpointId, filter));
  const now = useNow(5_000);
  const [openId, setOpenId] = useState<string | null>(null);
  const rows = deliveries.data?.pages.flatMap(({ data }) => data);
  const { status = ALL, event = ALL } = filter;
  return (
    <>
      <div className={css.filters}>
        <Select
          label={texts.state}
          options={STATUS_OPTIONS}
          value={status}
          onChange={(selected) =>
            onFilter({ ...omit(filter, "status"), ...(selected !== ALL && { status: selected }) })
          }
        />
        <Select
          label={texts.event}
          options={EVENT_OPTIONS}
          value={event}
          onChange={(selected) =>
            onFilter({ ...omit(filter, "event"), ...(selected !== ALL && { event: selected }) })
          }
        />
        {canRedeliver && <RedeliverFailed endpointId={endpointId} />}
      </div>
      <LoadState query={deliveries} />
      {rows?.length === 0 && (
        <p className={table.soft}>{status === ALL && event === ALL ? texts.noDeliveries : ui.noResults}</p>
      )}
      {rows && rows.length > 0 && (
        <DataTable
          label={texts.deliveries}
          columns={[texts.event, texts.state, texts.lastResponse, texts.attempts, texts.nextRetry]}
          hasActions
        >
          {rows.map((delivery) => (
            <Fragment key={delivery.id}>
              <Row
                delivery={delivery}
                environmentId={environmentId}
                now={now}
                isOpen={openId === delivery.id}
                toggle={() => setOpenId(openId === delivery.id ? null : delivery.id)}
              />
              {openId === delivery.id && (
                <tr className={table.detail} id={`detail-${delivery.id}`}>
                  <td colSpan={6}>
                    <DeliveryDetail
                      endpointId={endpointId}
                      deliveryId={delivery.id}
                      canRedeliver={canRedeliver}
                    />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </DataTable>
      )}
      <ShowMore query={deliveries} />
    </>
  );
}

function omit(filter: DeliveryFilter, key: keyof DeliveryFilter): DeliveryFilter {
  const { [key]: _omitted, ...rest } = filter;
  return rest;
}

interface RowProps {
  delivery: DeliveryView;
  environmentId: string;
  now: number;
  isOpen: boolean;
  toggle(): void;
}

function Row({ delivery, environmentId, now, isOpen, toggle }: RowProps) {
  const { id, eventType, video, createdAt, status, attempts, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const description = [eventName(eventType), video && videoName(video), formatAgo(createdAt, now)];
  return (
    <tr>
      <td>
        <div className={table.name}>{eventName(eventType)}</div>
        {video && (
          <div className={css.video}>
            <Link
              to="/environments/$environmentId/videos/$videoId"
              params={{ environmentId, videoId: video.id }}
              preload={false}
            >
              <bdi>{videoName(video)}</bdi>
            </Link>
          </div>
        )}
        <div className={table.soft}>{formatAgo(createdAt, now)}</div>
      </td>
      <td data-column={texts.state}>
        <div>
          <Badge {...(status === "pending" && !last ? SENDING_BADGE : statusBadge(status))} />
        </div>
      </td>
      <td data-column={texts.lastResponse}>{last ? responseText(last) : "–"}</td>
      <td data-column={texts.attempts}>{last?.number ?? 0}</td>
      <td data-column={texts.nextRetry}>{nextAttemptAt === null ? "–" : formatUntil(nextAttemptAt, now)}</td>
      <td>
        <Button
          aria-expanded={isOpen}
          {...(isOpen && { "aria-controls": `detail-${id}` })}
          aria-label={texts.detailsOf(description.filter(Boolean).join(", "))}
          onPress={toggle}
        >
          {texts.details}
        </Button>
      </td>
    </tr>
  );
}
