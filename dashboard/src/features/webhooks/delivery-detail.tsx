import type { DeliveryAttempt } from "@subtext/client/contract/webhook-endpoint";
import type { AttemptRequestView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { messageOf, request } from "../../admin-client/request.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Code } from "../../ui/code.tsx";
import { Button, Notice } from "../../ui/controls.tsx";
import table from "../../ui/table.module.css";
import { deliveryQuery, endpointKey } from "./queries.ts";
import { answerInWords, moment, until } from "./texts.ts";
import css from "./webhooks.module.css";

interface DeliveryDetailProps {
  endpointId: string;
  deliveryId: string;
  canRedeliver: boolean;
}

/** Every attempt of a delivery, the latest first: what was sent, and what came back. */
export function DeliveryDetail({ endpointId, deliveryId, canRedeliver }: DeliveryDetailProps) {
  const queryClient = useQueryClient();
  const now = useNow(1_000);
  const { data: delivery, error } = useQuery(deliveryQuery(endpointId, deliveryId));
  const redeliver = useMutation({
    mutationFn: () =>
      request("POST /webhook-endpoints/:id/deliveries/:delivery/redeliver", {
        params: { id: endpointId, delivery: deliveryId },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) }),
  });
  if (error && !delivery) return <Notice tone="bad">{messageOf(error)}</Notice>;
  if (!delivery) return null;
  return (
    <div className={css.detail}>
      <div className={css.detailHead}>
        <p className={table.soft}>
          {delivery.nextAttemptAt && `Next retry ${until(delivery.nextAttemptAt, now)}. `}
          Event <code>{delivery.eventId}</code>
        </p>
        {canRedeliver && (
          <Button onPress={() => redeliver.mutate()} isPending={redeliver.isPending}>
            {delivery.status === "pending" ? "Resend now" : "Resend"}
          </Button>
        )}
      </div>
      {redeliver.error && <Notice tone="bad">{messageOf(redeliver.error)}</Notice>}
      {delivery.attempts.toReversed().map((attempt) => (
        <Attempt
          key={attempt.number}
          attempt={attempt}
          sent={delivery.requests.find(({ number }) => number === attempt.number)}
        />
      ))}
      {delivery.attempts.length > 0 && (
        <p className={table.soft}>
          Requests are reconstructed and may differ if the URL, metadata or secret changed since.
        </p>
      )}
    </div>
  );
}

function Attempt({ attempt, sent }: { attempt: DeliveryAttempt; sent: AttemptRequestView | undefined }) {
  const { number, attemptedAt, latencyMs, responseStart } = attempt;
  return (
    <section className={css.attempt} aria-label={`Attempt ${number}`}>
      <h3>
        Attempt {number}: {answerInWords(attempt)}
      </h3>
      <p className={table.soft}>
        {moment(attemptedAt)}, after {latencyMs.toLocaleString("en")} ms
      </p>
      {responseStart !== null && responseStart !== "" && (
        <Code name={"Response (first 1 KB)"} text={responseStart} />
      )}
      {responseStart === "" && <p className={table.soft}>The response had no body.</p>}
      {sent && (
        <details className={css.request}>
          <summary>Request</summary>
          <Code name="Headers" text={`POST ${sent.url}\n${headerLines(sent.headers)}`} />
          <Code name="Body" text={JSON.stringify(JSON.parse(sent.body), null, 2)} />
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
