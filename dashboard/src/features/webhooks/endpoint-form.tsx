import { type EventType, FINAL_EVENT_TYPES } from "@subtext/client/contract/webhook";
import type { NewWebhookEndpoint } from "@subtext/client/contract/webhook-endpoint";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { FieldError, Input, Label, Text, TextField } from "react-aria-components";
import { request } from "../../admin-client/request.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import controls from "../../ui/forms/controls.module.css";
import { Form, FormActions } from "../../ui/forms/controls.tsx";
import { CheckboxList, MultilineField } from "../../ui/forms/form-fields.tsx";

const DEBOUNCE_MS = 300;

interface EndpointFormProps {
  endpoint?: Required<NewWebhookEndpoint>;
  saveLabel: string;
  save(endpoint: NewWebhookEndpoint): Promise<unknown>;
  onCancel(): void;
}

const NEW: Required<NewWebhookEndpoint> = {
  url: "",
  eventTypes: [...FINAL_EVENT_TYPES],
  metadata: {},
};

export function EndpointForm({ endpoint = NEW, saveLabel, save, onCancel }: EndpointFormProps) {
  const [url, setUrl] = useState(endpoint.url);
  const [eventTypes, setEventTypes] = useState<EventType[]>(endpoint.eventTypes);
  const [metadata, setMetadata] = useState(
    Object.keys(endpoint.metadata).length === 0 ? "" : JSON.stringify(endpoint.metadata, null, 2),
  );
  const urlError = useUrlCheck(url);
  const parsed = parseMetadata(metadata);
  const saving = useMutation({ mutationFn: save });
  const submit = () => {
    if (urlError === null && "value" in parsed) saving.mutate({ url, eventTypes, metadata: parsed.value });
  };
  return (
    <Form onSubmit={submit} error={saving.error}>
      <TextField
        className={controls.field ?? ""}
        type="url"
        value={url}
        onChange={setUrl}
        isRequired
        isInvalid={urlError !== null}
        validationBehavior="aria"
        autoFocus
      >
        <Label className={controls.label ?? ""}>{texts.url}</Label>
        <Input className={controls.input ?? ""} placeholder="https://example.com/webhooks/subtext" />
        <Text slot="description" className={controls.hint ?? ""}>
          {texts.urlHint}
        </Text>
        <FieldError className={controls.error ?? ""}>{urlError}</FieldError>
      </TextField>
      <CheckboxList
        label={texts.events}
        options={texts.eventTypes}
        value={eventTypes}
        onChange={setEventTypes}
      />
      <MultilineField
        label={texts.metadata}
        hint={texts.metadataHint}
        error={"error" in parsed ? parsed.error : null}
        value={metadata}
        onChange={setMetadata}
      />
      <FormActions submitLabel={saveLabel} isPending={saving.isPending} onCancel={onCancel} />
    </Form>
  );
}

function parseMetadata(text: string): { value: Record<string, unknown> } | { error: string } {
  if (text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { value: value as Record<string, unknown> };
    }
    return { error: texts.metadataNotObject };
  } catch {
    return { error: texts.metadataInvalid };
  }
}

/** Returns why the server rejects the URL; null if the server accepts it or the result is pending. */
function useUrlCheck(url: string): string | null {
  const [debounced, setDebounced] = useState(url);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(url), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [url]);
  const { data } = useQuery({
    queryKey: ["webhook-url-check", debounced],
    queryFn: ({ signal }) => request("POST /webhook-url-checks", { body: { url: debounced }, signal }),
    enabled: debounced !== "",
    staleTime: 60_000,
  });
  return debounced === url ? (data?.reason ?? null) : null;
}
