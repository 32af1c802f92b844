import type { SentEventType } from "@subtext/client/contract/webhook";
import type { DeliveryStatus } from "@subtext/client/contract/webhook-endpoint";
import type { DeliveryView } from "@subtext/server/admin/contract/webhook";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { messageOf } from "../../admin-client/request.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, Notice } from "../../ui/controls.tsx";
import { Choice } from "../../ui/form-fields.tsx";
import { ago } from "../../ui/format.ts";
import table from "../../ui/table.module.css";
import { videoName } from "../video-list/video-row.tsx";
import { DeliveryDetail } from "./delivery-detail.tsx";
import { type DeliveryFilter, deliveriesQuery } from "./queries.ts";
import { RedeliverFailed } from "./redeliver-failed.tsx";
import { answerInWords, SENDING, SENT_EVENT_NAMES, STATUS_WORDS, until } from "./texts.ts";
import css from "./webhooks.module.css";

const ALL = "all";
const STATUS_CHOICES: Record<DeliveryStatus | typeof ALL, string> = {
  all: "All",
  pending: STATUS_WORDS.pending.name,
  succeeded: STATUS_WORDS.succeeded.name,
  failed: STATUS_WORDS.failed.name,
  canceled: STATUS_WORDS.canceled.name,
};
const EVENT_CHOICES: Record<SentEventType | typeof ALL, string> = { all: "All", ...SENT_EVENT_NAMES };

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
        <Choice
          label="State"
          options={STATUS_CHOICES}
          value={status}
          onChange={(chosen) =>
            onFilter({ ...without(filter, "status"), ...(chosen !== ALL && { status: chosen }) })
          }
        />
        <Choice
          label="Event"
          options={EVENT_CHOICES}
          value={event}
          onChange={(chosen) =>
            onFilter({ ...without(filter, "event"), ...(chosen !== ALL && { event: chosen }) })
          }
        />
        {canRedeliver && <RedeliverFailed endpointId={endpointId} />}
      </div>
      {deliveries.error && !rows && <Notice tone="bad">{messageOf(deliveries.error)}</Notice>}
      {rows?.length === 0 && (
        <p className={table.soft}>{status === ALL && event === ALL ? "No deliveries yet." : "No results"}</p>
      )}
      {rows && rows.length > 0 && (
        <table className={table.table} aria-label="Deliveries">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">State</th>
              <th scope="col">Last response</th>
              <th scope="col">Attempts</th>
              <th scope="col">Next retry</th>
              <td />
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      )}
      {deliveries.hasNextPage && (
        <div className={table.more}>
          <Button onPress={() => deliveries.fetchNextPage()} isPending={deliveries.isFetchingNextPage}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

function without(filter: DeliveryFilter, key: keyof DeliveryFilter): DeliveryFilter {
  const { [key]: _left, ...rest } = filter;
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
  const about = [SENT_EVENT_NAMES[eventType], video && videoName(video), ago(createdAt, now)];
  return (
    <tr>
      <td>
        <div className={table.name}>{SENT_EVENT_NAMES[eventType]}</div>
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
        <div className={table.soft}>{ago(createdAt, now)}</div>
      </td>
      <td data-column="State">
        <div>
          <Badge {...(status === "pending" && !last ? SENDING : STATUS_WORDS[status])} />
        </div>
      </td>
      <td data-column="Last response">{last ? answerInWords(last) : "–"}</td>
      <td data-column="Attempts">{last?.number ?? 0}</td>
      <td data-column="Next retry">{nextAttemptAt === null ? "–" : until(nextAttemptAt, now)}</td>
      <td>
        <Button
          aria-expanded={isOpen}
          {...(isOpen && { "aria-controls": `detail-${id}` })}
          aria-label={`Details of ${about.filter(Boolean).join(", ")}`}
          onPress={toggle}
        >
          Details
        </Button>
      </td>
    </tr>
  );
}
