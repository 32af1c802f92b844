import type { DeliveryAttempt } from "@subtext/client/contract/webhook-endpoint";
import type { AttemptRequestView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";
import { useNow } from "../../hooks/use-now.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { CodeBlock } from "../../ui/copy.tsx";
import { formatDateTime, formatUntil } from "../../ui/format.ts";
import { Button, ErrorNotice } from "../../ui/forms/controls.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import table from "../../ui/table.module.css";
import { deliveryQuery, endpointKey } from "./queries.ts";
import { responseText } from "./texts.ts";
import css from "./webhooks.module.css";

interface DeliveryDetailProps {
  endpointId: string;
  deliveryId: string;
  canRedeliver: boolean;
}

export function DeliveryDetail({ endpointId, deliveryId, canRedeliver }: DeliveryDetailProps) {
  const queryClient = useQueryClient();
  const now = useNow(1_000);
  const query = useQuery(deliveryQuery(endpointId, deliveryId));
  const redeliver = useMutation({
    mutationFn: () =>
      request("POST /webhook-endpoints/:id/deliveries/:delivery/redeliver", {
        params: { id: endpointId, delivery: deliveryId },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) }),
  });
  const delivery = query.data;
  if (!delivery) return <LoadState query={query} />;
  return (
    <div className={css.detail}>
      <div className={css.detailHead}>
        <p className={table.soft}>
          {delivery.nextAttemptAt && `${texts.nextRetryWhen(formatUntil(delivery.nextAttemptAt, now))} `}
          {texts.event} <code>{delivery.eventId}</code>
        </p>
        {canRedeliver && (
          <Button onPress={() => redeliver.mutate()} isPending={redeliver.isPending}>
            {delivery.status === "pending" ? texts.resendNow : texts.resend}
          </Button>
        )}
      </div>
      <ErrorNotice error={redeliver.error} />
      {delivery.attempts.toReversed().map((attempt) => (
        <Attempt
          key={attempt.number}
          attempt={attempt}
          request={delivery.requests.find(({ number }) => number === attempt.number)}
        />
      ))}
      {delivery.attempts.length > 0 && <p className={table.soft}>{texts.reconstructed}</p>}
    </div>
  );
}

function Attempt({
  attempt,
  request,
}: {
  attempt: DeliveryAttempt;
  request: AttemptRequestView | undefined;
}) {
  const { number, attemptedAt, latencyMs, responseStart } = attempt;
  return (
    <section className={css.attempt} aria-label={texts.attempt(number)}>
      <h3>
        {texts.attempt(number)}: {responseText(attempt)}
      </h3>
      <p className={table.soft}>{texts.attemptedAt(formatDateTime(attemptedAt), latencyMs)}</p>
      {responseStart !== null && responseStart !== "" && (
        <CodeBlock label={texts.responseStart} text={responseStart} />
      )}
      {responseStart === "" && <p className={table.soft}>{texts.emptyResponse}</p>}
      {request && (
        <details className={css.request}>
          <summary>{texts.request}</summary>
          <CodeBlock label={texts.headers} text={`POST ${request.url}\n${headerLines(request.headers)}`} />
          <CodeBlock label={texts.body} text={JSON.stringify(JSON.parse(request.body), null, 2)} />
        </details>
      )}
    </section>
  );
}

function headerLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
