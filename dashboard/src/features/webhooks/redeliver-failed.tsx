import type { Redelivering } from "@subtext/client/contract/webhook-endpoint";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { request } from "../../admin-client/request.ts";
import { formatCount } from "../../ui/format.ts";
import { Button, Form, FormActions, ModalDialog, Notice } from "../../ui/forms/controls.tsx";
import { type SelectedTime, TimeSelect } from "../../ui/forms/form-fields.tsx";
import { endpointKey } from "./queries.ts";

const PERIODS = {
  hour: "The last hour",
  day: "The last 24 hours",
  week: "The last 7 days",
  month: "The last 30 days",
  custom: "Custom time",
} as const;
type Period = keyof typeof PERIODS;
const CUSTOM_TIME = {
  id: "custom",
  label: "Since",
  type: "datetime-local",
  hint: "In your local time.",
} as const;
const HOURS = { hour: 1, day: 24, week: 24 * 7, month: 24 * 30 } as const;

export function RedeliverFailed({ endpointId }: { endpointId: string }) {
  return (
    <DialogTrigger>
      <Button>Resend failed</Button>
      <ModalDialog title="Resend failed deliveries">
        {(close) => <RedeliverForm endpointId={endpointId} close={close} />}
      </ModalDialog>
    </DialogTrigger>
  );
}

function RedeliverForm({ endpointId, close }: { endpointId: string; close(): void }) {
  const queryClient = useQueryClient();
  const [since, setSince] = useState<SelectedTime<Period>>({ id: "day", custom: "" });
  const redeliver = useMutation({
    mutationFn: () => {
      const body = { since: sinceTime(since, Date.now()) };
      return request("POST /webhook-endpoints/:id/redeliver-failed", { params: { id: endpointId }, body });
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) }),
  });
  return (
    <Form onSubmit={() => redeliver.mutate()} error={redeliver.error}>
      {redeliver.data && <Notice tone="good">{resultText(redeliver.data)}</Notice>}
      <TimeSelect
        label="Created in"
        options={PERIODS}
        custom={CUSTOM_TIME}
        value={since}
        onChange={setSince}
      />
      <p>
        Deliveries that failed, were canceled or wait for a retry are sent again now, oldest first, with the
        same event IDs.
      </p>
      <FormActions
        submitLabel={redeliver.data?.hasMore ? "Resend more" : "Resend"}
        isPending={redeliver.isPending}
        cancelLabel="Close"
        onCancel={close}
      />
    </Form>
  );
}

function sinceTime({ id, custom }: SelectedTime<Period>, now: number): string {
  return (id === "custom" ? new Date(custom) : new Date(now - HOURS[id] * 3_600_000)).toISOString();
}

function resultText({ count, hasMore }: Redelivering): string {
  if (count === 0) return "No failed deliveries in this period.";
  const text = `${formatCount(count, "delivery", "deliveries")} will be resent.`;
  return hasMore ? `${text} There are more: resend them when these are done.` : text;
}
