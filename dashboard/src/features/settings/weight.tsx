import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { MAX_WEIGHT } from "@subtext/server/db/enums";
import { useState } from "react";
import { useRole } from "../../hooks/use-me.ts";
import { settings as texts } from "../../messages/en/settings.ts";
import { Form, TextField } from "../../ui/forms/controls.tsx";
import { Section } from "../../ui/page.tsx";
import { SaveButton, useUndoableChange } from "./settings-form.tsx";

export function Weight({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const [text, setText] = useState(String(environment.weight));
  const change = useUndoableChange(environment, {
    text: () => texts.saved.weight,
    onUndone: ({ weight }) => setText(String(weight)),
  });
  const weight = Number(text);
  return (
    <Section title={texts.queueWeight} description={texts.queueWeightHint}>
      <Form onSubmit={() => change.mutate({ weight })} error={change.error}>
        <TextField
          label={texts.weight}
          type="number"
          inputMode="numeric"
          value={text}
          onChange={setText}
          isDisabled={!isOwner}
          isRequired
          validate={(value) =>
            Number.isInteger(Number(value)) && Number(value) >= 1 && Number(value) <= MAX_WEIGHT
              ? null
              : texts.wholeNumber(MAX_WEIGHT)
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
