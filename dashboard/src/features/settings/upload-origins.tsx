import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useState } from "react";
import { messageOf } from "../../admin-client/request.ts";
import { useRole } from "../../hooks/use-me.ts";
import { Form } from "../../ui/forms/controls.tsx";
import { MultilineField } from "../../ui/forms/form-fields.tsx";
import { Section } from "../../ui/page.tsx";
import { RadioOptions, SaveButton, useChangeEnvironment } from "./settings-form.tsx";

const ANY = "*";
const OPTIONS = [
  { value: "any", name: "Any website", hint: "An upload still needs an API key or a signed upload URL." },
  { value: "listed", name: "Only these websites", hint: "Your own servers and programs can always upload." },
] as const;

export function UploadOrigins({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const { allowedOrigins: saved } = environment;
  const [allowed, setAllowed] = useState<"any" | "listed">(saved.includes(ANY) ? "any" : "listed");
  const [text, setText] = useState(saved.filter((origin) => origin !== ANY).join("\n"));
  const change = useChangeEnvironment(environment);
  const isAny = allowed === "any";
  const edited = isAny ? [ANY] : text.split(/\s+/).filter((origin) => origin !== "");
  return (
    <Section title="Uploads from browsers" description="Websites allowed to upload from the browser (CORS).">
      <Form onSubmit={() => change.mutate({ allowedOrigins: edited })} error={isAny ? change.error : null}>
        <RadioOptions
          label="Allowed websites"
          options={OPTIONS}
          value={allowed}
          onChange={setAllowed}
          isDisabled={!isOwner}
        />
        {!isAny && isOwner && (
          <MultilineField
            label="Origins"
            hint="One per line, e.g. https://app.example.com. Leave empty to block all."
            error={change.error && messageOf(change.error)}
            value={text}
            onChange={setText}
          />
        )}
        {!isAny && !isOwner && <p>{saved.length === 0 ? "None" : saved.join(", ")}</p>}
        <SaveButton
          isOwner={isOwner}
          isDisabled={edited.join() === saved.join()}
          isPending={change.isPending}
        />
      </Form>
    </Section>
  );
}
