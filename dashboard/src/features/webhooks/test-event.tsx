import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";
import { useNow } from "../../hooks/use-now.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { formatNumber } from "../../messages/numbers.ts";
import { formatUntil } from "../../ui/format.ts";
import { Button, ErrorNotice, Notice } from "../../ui/forms/controls.tsx";
import { deliveryQuery, endpointKey } from "./queries.ts";
import { responseText } from "./texts.ts";

export function useTestEvent(endpointId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/test", { params: { id: endpointId } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) }),
  });
}

export function TestEventButton({ test }: { test: ReturnType<typeof useTestEvent> }) {
  return (
    <Button variant="primary" onPress={() => test.mutate()} isPending={test.isPending}>
      {texts.sendTest}
    </Button>
  );
}

export function TestEventResult({
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
