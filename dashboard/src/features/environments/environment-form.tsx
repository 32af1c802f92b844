import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import css from "../../ui/controls.module.css";
import { Button, Notice, Switch, TextField } from "../../ui/controls.tsx";

interface EnvironmentFormProps {
  onCreated(environment: EnvironmentView): void;
  onCancel?: () => void;
}

export function EnvironmentForm({ onCreated, onCancel }: EnvironmentFormProps) {
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const [aiTranscription, setAiTranscription] = useState(true);
  const create = useMutation({
    mutationFn: () => request("POST /environments", { body: { name, aiTranscription } }),
    onSuccess: async (environment) => {
      await queryClient.invalidateQueries(environmentsQuery);
      onCreated(environment);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Form className={css.form ?? ""} onSubmit={submit}>
      {create.error && <Notice tone="bad">{messageOf(create.error)}</Notice>}
      <TextField
        label="Name"
        hint="Its videos, keys and webhooks are kept apart from those of other environments."
        placeholder="Staging"
        value={name}
        onChange={setName}
        isRequired
        maxLength={100}
        autoFocus
      />
      <Switch isSelected={aiTranscription} onChange={setAiTranscription}>
        AI Transcription
      </Switch>
      <div className={css.actions}>
        {onCancel && <Button onPress={onCancel}>Cancel</Button>}
        <Button type="submit" look="primary" isPending={create.isPending}>
          Create environment
        </Button>
      </div>
    </Form>
  );
}
