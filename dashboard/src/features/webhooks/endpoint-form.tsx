import { EVENT_TYPES, type EventType } from "@subtext/client/contract/webhook";
import type { NewWebhookEndpoint } from "@subtext/client/contract/webhook-endpoint";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { FieldError, Form, Input, Label, Text, TextField } from "react-aria-components";
import { messageOf } from "../../admin-client/request.ts";
import controls from "../../ui/controls.module.css";
import { Button, Notice } from "../../ui/controls.tsx";
import { CheckList, TextBlock } from "../../ui/form-fields.tsx";
import { EVENT_WORDS } from "./texts.ts";
import { useUrlVerdict } from "./use-url-check.ts";

interface EndpointFormProps {
  /** What stands in it at first. */
  endpoint?: Required<NewWebhookEndpoint>;
  saveLabel: string;
  save(endpoint: NewWebhookEndpoint): Promise<unknown>;
  onCancel(): void;
}

const NEW: Required<NewWebhookEndpoint> = {
  url: "",
  eventTypes: [...EVENT_TYPES],
  metadata: {},
};

export function EndpointForm({ endpoint = NEW, saveLabel, save, onCancel }: EndpointFormProps) {
  const [url, setUrl] = useState(endpoint.url);
  const [eventTypes, setEventTypes] = useState<EventType[]>(endpoint.eventTypes);
  const [metadata, setMetadata] = useState(
    Object.keys(endpoint.metadata).length === 0 ? "" : JSON.stringify(endpoint.metadata, null, 2),
  );
  const refusal = useUrlVerdict(url);
  const read = readMetadata(metadata);
  const saving = useMutation({ mutationFn: save });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (refusal === null && "value" in read) saving.mutate({ url, eventTypes, metadata: read.value });
  };
  return (
    <Form className={controls.form ?? ""} onSubmit={submit}>
      {saving.error && <Notice tone="bad">{messageOf(saving.error)}</Notice>}
      <TextField
        className={controls.field ?? ""}
        type="url"
        value={url}
        onChange={setUrl}
        isRequired
        isInvalid={refusal !== null}
        validationBehavior="aria"
        autoFocus
      >
        <Label className={controls.label ?? ""}>URL</Label>
        <Input className={controls.input ?? ""} placeholder="https://example.com/webhooks/subtext" />
        <Text slot="description" className={controls.hint ?? ""}>
          Events are sent as POST requests. Respond with 2xx; redirects aren't followed.
        </Text>
        <FieldError className={controls.error ?? ""}>{refusal}</FieldError>
      </TextField>
      <CheckList label="Events" options={EVENT_WORDS} value={eventTypes} onChange={setEventTypes} />
      <TextBlock
        label="Metadata"
        hint="Optional JSON included with every event."
        error={"fault" in read ? read.fault : null}
        value={metadata}
        onChange={setMetadata}
      />
      <div className={controls.actions}>
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" isPending={saving.isPending}>
          {saveLabel}
        </Button>
      </div>
    </Form>
  );
}

function readMetadata(text: string): { value: Record<string, unknown> } | { fault: string } {
  if (text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { value: value as Record<string, unknown> };
    }
    return { fault: 'It must be an object, such as {"team": "video"}.' };
  } catch {
    return { fault: "This is not JSON yet." };
  }
}
