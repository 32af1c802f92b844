import type { Redelivering } from "@subtext/client/contract/webhook-endpoint";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { request } from "../../admin-client/request.ts";
import { ui } from "../../messages/en/ui.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Button, Form, FormActions, Notice } from "../../ui/forms/controls.tsx";
import { type SelectedTime, TimeSelect } from "../../ui/forms/form-fields.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { endpointKey } from "./queries.ts";

type Period = keyof typeof texts.periods;
const CUSTOM_TIME = {
  id: "custom",
  label: texts.since,
  type: "datetime-local",
  hint: texts.localTime,
} as const;
const HOURS = { hour: 1, day: 24, week: 24 * 7, month: 24 * 30 } as const;

export function RedeliverFailed({ endpointId }: { endpointId: string }) {
  return (
    <DialogTrigger>
      <Button>{texts.resendFailed}</Button>
      <ModalDialog title={texts.resendFailedTitle}>
        {(close) => <RedeliverForm endpointId={endpointId} close={close} />}
      </ModalDialog>
    </DialogTrigger>
  );
}

function RedeliverForm({ endpointId, close }: { endpointId: string; close(): void }) {
  const queryClient = useQueryClient();
  const [period, setPeriod] = useState<SelectedTime<Period>>({ id: "day", custom: "" });
  /** Kept until everything is resent, because a later start would skip the oldest remaining deliveries. */
  const start = useRef<string | null>(null);
  const redeliver = useMutation({
    mutationFn: () => {
      start.current ??= startOf(period, Date.now());
      const body = { since: start.current };
      return request("POST /webhook-endpoints/:id/redeliver-failed", { params: { id: endpointId }, body });
    },
    onSuccess({ hasMore }) {
      if (!hasMore) start.current = null;
      return queryClient.invalidateQueries({ queryKey: endpointKey(endpointId) });
    },
  });
  const changePeriod = (next: SelectedTime<Period>) => {
    setPeriod(next);
    start.current = null;
    redeliver.reset();
  };
  return (
    <Form onSubmit={() => redeliver.mutate()} error={redeliver.error}>
      {redeliver.data && <Notice tone="good">{resultText(redeliver.data)}</Notice>}
      <TimeSelect
        label={texts.createdIn}
        options={texts.periods}
        custom={CUSTOM_TIME}
        value={period}
        onChange={changePeriod}
      />
      <p>{texts.resendFailedHint}</p>
      <FormActions
        submitLabel={redeliver.data?.hasMore ? texts.resendMore : texts.resend}
        isPending={redeliver.isPending}
        cancelLabel={ui.close}
        onCancel={close}
      />
    </Form>
  );
}

function startOf({ id, custom }: SelectedTime<Period>, now: number): string {
  return (id === "custom" ? new Date(custom) : new Date(now - HOURS[id] * 3_600_000)).toISOString();
}

function resultText({ count, hasMore }: Redelivering): string {
  if (count === 0) return texts.noneFailed;
  const text = texts.willBeResent(count);
  return hasMore ? `${text} ${texts.moreFailed}` : text;
}
