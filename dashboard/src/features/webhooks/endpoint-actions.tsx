import type { WebhookEndpointChange } from "@subtext/client/contract/webhook-endpoint";
import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../admin-client/request.ts";
import { forms } from "../../messages/en/forms.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Button, ErrorNotice } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { useUndo } from "../../ui/toasts/undo.ts";
import { EndpointForm } from "./endpoint-form.tsx";
import { endpointKey, endpointsQuery } from "./queries.ts";
import css from "./webhooks.module.css";

export function EndpointActions({ endpoint }: { endpoint: WebhookEndpointView }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const offerUndo = useUndo();
  const [isEditing, setEditing] = useState(false);
  const { id, environmentId, url, eventTypes, metadata, enabled } = endpoint;
  const change = useMutation({
    mutationFn: (body: WebhookEndpointChange) =>
      request("PATCH /webhook-endpoints/:id", { params: { id }, body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointKey(id) }),
  });
  /** Used only for edits. Disabling cancels pending retries and enabling sends events, and neither can be undone. */
  const offerUndoOf = (saved: WebhookEndpointView) => {
    const pick = ({ url, eventTypes, metadata }: WebhookEndpointView) => ({ url, eventTypes, metadata });
    offerUndo(texts.saved, {
      previous: pick(endpoint),
      saved: pick(saved),
      read: async () => pick(await request("GET /webhook-endpoints/:id", { params: { id } })),
      restore: change.mutateAsync,
    });
  };
  const remove = async () => {
    await request("DELETE /webhook-endpoints/:id", { params: { id } });
    await navigate({ to: "/environments/$environmentId/webhooks", params: { environmentId } });
    queryClient.removeQueries({ queryKey: endpointKey(id) });
    await queryClient.invalidateQueries(endpointsQuery(environmentId));
  };
  return (
    <>
      {/* The dialogs and the toast show the errors of the other changes. */}
      {change.variables?.enabled && <ErrorNotice error={change.error} />}
      <div className={css.buttons}>
        <Button onPress={() => setEditing(true)}>{texts.edit}</Button>
        {enabled ? (
          <Confirm
            label={texts.disable}
            title={texts.disableQuestion}
            action={() => change.mutateAsync({ enabled: false })}
          >
            {texts.disableEffect}
          </Confirm>
        ) : (
          <Button onPress={() => change.mutate({ enabled: true })} isPending={change.isPending}>
            {texts.enable}
          </Button>
        )}
        <Confirm label={texts.delete} title={texts.deleteQuestion} typed={url} action={remove}>
          {texts.deleteEffect}
        </Confirm>
      </div>
      <ModalDialog title={texts.editEndpoint} isOpen={isEditing} onOpenChange={setEditing}>
        {(close) => (
          <EndpointForm
            endpoint={{ url, eventTypes, metadata }}
            saveLabel={forms.save}
            onCancel={close}
            save={async (body) => {
              offerUndoOf(await change.mutateAsync(body));
              close();
            }}
          />
        )}
      </ModalDialog>
    </>
  );
}
