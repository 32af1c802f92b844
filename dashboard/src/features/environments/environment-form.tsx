import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { environments as texts } from "../../messages/en/environments.ts";
import { forms } from "../../messages/en/forms.ts";
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
        label={forms.name}
        hint={texts.purpose}
        placeholder={texts.namePlaceholder}
        value={name}
        onChange={setName}
        isRequired
        maxLength={100}
        autoFocus
      />
      <Switch isSelected={aiTranscription} onChange={setAiTranscription}>
        {texts.aiTranscription}
      </Switch>
      <FormActions submitLabel={texts.create} isPending={create.isPending} onCancel={onCancel} />
    </Form>
  );
}
