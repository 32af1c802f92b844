import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { messageOf, request } from "../../admin-client/request.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Button, Notice } from "../../ui/controls.tsx";
import { deliveryQuery, endpointKey } from "./queries.ts";
import { answerInWords, until } from "./texts.ts";

/** Sends an event about nothing, and tells what comes of it while it happens. */
export function useTestEvent(endpointId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/test", { params: { id: endpointId } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) }),
  });
}

export function TestEventButton({ test }: { test: ReturnType<typeof useTestEvent> }) {
  return (
    <Button look="primary" onPress={() => test.mutate()} isPending={test.isPending}>
      Send test event
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
  if (test.error) return <Notice tone="bad">{messageOf(test.error)}</Notice>;
  if (!test.data) return null;
  return <Result key={test.data.id} endpointId={endpointId} deliveryId={test.data.id} />;
}

function Result({ endpointId, deliveryId }: { endpointId: string; deliveryId: string }) {
  const now = useNow(1_000);
  const { data: delivery, error } = useQuery(deliveryQuery(endpointId, deliveryId));
  if (error && !delivery) return <Notice tone="bad">{messageOf(error)}</Notice>;
  const last = delivery?.attempts.at(-1);
  if (!delivery || !last) return <Notice tone="plain">Sending the test event…</Notice>;
  const what = `${answerInWords(last)} (${last.latencyMs.toLocaleString("en")} ms).`;
  if (delivery.status === "succeeded") return <Notice tone="good">Test event received: {what}</Notice>;
  return (
    <Notice tone="bad">
      Test event failed: {what}
      {delivery.nextAttemptAt && ` Next retry ${until(delivery.nextAttemptAt, now)}.`}
    </Notice>
  );
}
