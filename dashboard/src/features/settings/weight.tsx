import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { MAX_WEIGHT } from "@subtext/server/db/enums";
import { useState } from "react";
import { useRole } from "../../hooks/use-me.ts";
import { Form, TextField } from "../../ui/forms/controls.tsx";
import { Section } from "../../ui/page.tsx";
import { SaveButton, useChangeEnvironment } from "./settings-form.tsx";

export function Weight({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const [text, setText] = useState(String(environment.weight));
  const change = useChangeEnvironment(environment);
  const weight = Number(text);
  return (
    <Section
      title="Queue weight"
      description="An environment with weight 2 gets twice as much transcription work done as one with weight 1."
    >
      <Form onSubmit={() => change.mutate({ weight })} error={change.error}>
        <TextField
          label="Weight"
          type="number"
          inputMode="numeric"
          value={text}
          onChange={setText}
          isDisabled={!isOwner}
          isRequired
          validate={(value) =>
            Number.isInteger(Number(value)) && Number(value) >= 1 && Number(value) <= MAX_WEIGHT
              ? null
              : `Enter a whole number from 1 to ${MAX_WEIGHT}.`
          }
        />
        <SaveButton
          isOwner={isOwner}
          isDisabled={weight === environment.weight}
          isPending={change.isPending}
        />
      </Form>
    </Section>
  );
}
