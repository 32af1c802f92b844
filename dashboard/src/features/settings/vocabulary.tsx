import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useState } from "react";
import { messageOf } from "../../admin-client/request.ts";
import { useRole } from "../../hooks/use-me.ts";
import { settings as texts } from "../../messages/en/settings.ts";
import { ui } from "../../messages/en/ui.ts";
import { Form } from "../../ui/forms/controls.tsx";
import { MultilineField } from "../../ui/forms/form-fields.tsx";
import { Section } from "../../ui/page.tsx";
import { SaveButton, useUndoableChange } from "./settings-form.tsx";

export function Vocabulary({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const { vocabulary: saved } = environment;
  const [text, setText] = useState(saved.join("\n"));
  const change = useUndoableChange(environment, {
    text: () => texts.saved.vocabulary,
    onUndone: ({ vocabulary }) => setText(vocabulary.join("\n")),
  });
  const edited = text
    .split(/[\n,]/)
    .map((term) => term.trim())
    .filter((term) => term !== "");
  return (
    <Section title={texts.vocabulary} description={texts.vocabularyHint}>
      <Form onSubmit={() => change.mutate({ vocabulary: edited })} error={null}>
        {isOwner ? (
          <MultilineField
            label={texts.terms}
            hint={texts.termsHint}
            error={change.error && messageOf(change.error)}
            value={text}
            onChange={setText}
          />
        ) : (
          <p>{saved.length === 0 ? ui.none : saved.join(", ")}</p>
        )}
        <SaveButton
          isOwner={isOwner}
          isDisabled={edited.join() === saved.join()}
          isPending={change.isPending}
        />
      </Form>
    </Section>
  );
}
