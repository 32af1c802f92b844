import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useState } from "react";
import { messageOf } from "../../admin-client/request.ts";
import { useRole } from "../../hooks/use-me.ts";
import { settings as texts } from "../../messages/en/settings.ts";
import { ui } from "../../messages/en/ui.ts";
import { Form } from "../../ui/forms/controls.tsx";
import { MultilineField } from "../../ui/forms/form-fields.tsx";
import { Section } from "../../ui/page.tsx";
import { RadioOptions, SaveButton, useUndoableChange } from "./settings-form.tsx";

const ANY = "*";
const OPTIONS = [
  { value: "any", ...texts.originOptions.any },
  { value: "listed", ...texts.originOptions.listed },
] as const;

function optionOf(origins: readonly string[]): "any" | "listed" {
  return origins.includes(ANY) ? "any" : "listed";
}

function toText(origins: readonly string[]): string {
  return origins.filter((origin) => origin !== ANY).join("\n");
}

export function UploadOrigins({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const { allowedOrigins: saved } = environment;
  const [allowed, setAllowed] = useState(optionOf(saved));
  const [text, setText] = useState(toText(saved));
  const change = useUndoableChange(environment, {
    text: () => texts.saved.origins,
    onUndone({ allowedOrigins }) {
      setAllowed(optionOf(allowedOrigins));
      setText(toText(allowedOrigins));
    },
  });
  const isAny = allowed === "any";
  const edited = isAny ? [ANY] : text.split(/\s+/).filter((origin) => origin !== "");
  return (
    <Section title={texts.uploads} description={texts.uploadsHint}>
      <Form onSubmit={() => change.mutate({ allowedOrigins: edited })} error={isAny ? change.error : null}>
        <RadioOptions
          label={texts.allowedWebsites}
          options={OPTIONS}
          value={allowed}
          onChange={setAllowed}
          isDisabled={!isOwner}
        />
        {!isAny && isOwner && (
          <MultilineField
            label={texts.origins}
            hint={texts.originsHint}
            error={change.error && messageOf(change.error)}
            value={text}
            onChange={setText}
          />
        )}
        {!isAny && !isOwner && <p>{saved.length === 0 ? ui.none : saved.join(", ")}</p>}
        <SaveButton
          isOwner={isOwner}
          isDisabled={edited.join() === saved.join()}
          isPending={change.isPending}
        />
      </Form>
    </Section>
  );
}
