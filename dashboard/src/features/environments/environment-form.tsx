import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { Form, FormActions, Switch, TextField } from "../../ui/forms/controls.tsx";

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
  return (
    <Form onSubmit={() => create.mutate()} error={create.error}>
      <TextField
        label="Name"
        hint="Each environment has its own videos, API keys and webhooks."
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
      <FormActions submitLabel="Create environment" isPending={create.isPending} onCancel={onCancel} />
    </Form>
  );
}
