import type { Redelivering } from "@subtext/client/contract/webhook-endpoint";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { DialogTrigger, Form } from "react-aria-components";
import { messageOf, request } from "../../admin-client/request.ts";
import controls from "../../ui/controls.module.css";
import { Button, ModalDialog, Notice } from "../../ui/controls.tsx";
import { type ChosenTime, TimeChoice } from "../../ui/time-choice.tsx";
import { endpointKey } from "./queries.ts";

const SINCE = {
  hour: "The last hour",
  day: "The last 24 hours",
  week: "The last 7 days",
  month: "The last 30 days",
  moment: "Custom time",
} as const;
type Since = keyof typeof SINCE;
const OWN_MOMENT = {
  id: "moment",
  label: "Since",
  type: "datetime-local",
  hint: "In your local time.",
} as const;
const HOURS = { hour: 1, day: 24, week: 24 * 7, month: 24 * 30 } as const;

/** Resends everything that has not succeeded since a given time. */
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
  const [since, setSince] = useState<ChosenTime<Since>>({ id: "day", own: "" });
  const redeliver = useMutation({
    mutationFn: () => {
      const body = { since: beginOf(since, Date.now()) };
      return request("POST /webhook-endpoints/:id/redeliver-failed", { params: { id: endpointId }, body });
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    redeliver.mutate();
  };
  return (
    <Form className={controls.form ?? ""} onSubmit={submit}>
      {redeliver.error && <Notice tone="bad">{messageOf(redeliver.error)}</Notice>}
      {redeliver.data && <Notice tone="good">{resultOf(redeliver.data)}</Notice>}
      <TimeChoice label="Created in" options={SINCE} own={OWN_MOMENT} value={since} onChange={setSince} />
      <p>
        Deliveries that failed, were canceled or wait for a retry are sent again now, oldest first, with the
        same event IDs.
      </p>
      <div className={controls.actions}>
        <Button onPress={close}>Close</Button>
        <Button type="submit" look="primary" isPending={redeliver.isPending}>
          {redeliver.data?.hasMore ? "Resend more" : "Resend"}
        </Button>
      </div>
    </Form>
  );
}

/** ISO 8601. */
function beginOf({ id, own }: ChosenTime<Since>, now: number): string {
  return (id === "moment" ? new Date(own) : new Date(now - HOURS[id] * 3_600_000)).toISOString();
}

function resultOf({ count, hasMore }: Redelivering): string {
  if (count === 0) return "No failed deliveries in this period.";
  const told =
    count === 1 ? "1 delivery will be resent." : `${count.toLocaleString("en")} deliveries will be resent.`;
  return hasMore ? `${told} There are more: resend them when these are done.` : told;
}
