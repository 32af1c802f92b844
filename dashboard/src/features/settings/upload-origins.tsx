import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import controls from "../../ui/controls.module.css";
import { Button, Notice } from "../../ui/controls.tsx";
import { TextBlock } from "../../ui/form-fields.tsx";
import { Section } from "../../ui/page.tsx";
import css from "./settings-form.module.css";

const ANY = "*";

/** Which websites' pages may upload to an environment from a browser. */
export function UploadOrigins({ environment }: { environment: EnvironmentView }) {
  const { isOwner } = useMe();
  const queryClient = useQueryClient();
  const { allowedOrigins: saved } = environment;
  const [isAny, setAny] = useState(saved.includes(ANY));
  const [text, setText] = useState(saved.filter((origin) => origin !== ANY).join("\n"));
  const change = useMutation({
    mutationFn: (allowedOrigins: string[]) =>
      request("PATCH /environments/:environment", {
        params: { environment: environment.id },
        body: { allowedOrigins },
      }),
    onSuccess: (changed) => {
      queryClient.setQueryData(environmentsQuery.queryKey, (known) =>
        known?.map((each) => (each.id === changed.id ? changed : each)),
      );
    },
  });
  const wanted = isAny ? [ANY] : text.split(/\s+/).filter((origin) => origin !== "");
  const save = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(wanted);
  };
  const choice = (any: boolean, name: string, words: string) => (
    <label className={css.choice}>
      <input type="radio" name="origins" checked={isAny === any} onChange={() => setAny(any)} />
      <span>
        <strong>{name}</strong>
        <span className={css.words}>{words}</span>
      </span>
    </label>
  );
  return (
    <Section
      title="Uploads from browsers"
      lead="Which websites may upload here from their visitors' browsers."
    >
      <Form className={css.form ?? ""} onSubmit={save}>
        <fieldset className={css.choices} disabled={!isOwner}>
          <legend className={controls.hidden}>Websites that may upload</legend>
          {choice(true, "Any website", "An upload still needs an API key or a signed upload URL.")}
          {choice(false, "These websites alone", "Your own servers and programs can always upload.")}
        </fieldset>
        {!isAny && isOwner && (
          <TextBlock
            label="Origins"
            hint="One a line, as https://app.example.com. None at all keeps every website out."
            error={change.error && messageOf(change.error)}
            value={text}
            onChange={setText}
          />
        )}
        {!isAny && !isOwner && <p>{saved.length === 0 ? "None." : saved.join(", ")}</p>}
        {isAny && change.error && <Notice tone="bad">{messageOf(change.error)}</Notice>}
        {isOwner ? (
          <div>
            <Button
              type="submit"
              look="primary"
              isDisabled={wanted.join() === saved.join()}
              isPending={change.isPending}
            >
              Save
            </Button>
          </div>
        ) : (
          <p>Only an owner can change this.</p>
        )}
      </Form>
    </Section>
  );
}
