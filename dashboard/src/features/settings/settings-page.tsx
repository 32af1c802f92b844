import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { MAX_WEIGHT } from "@subtext/server/db/enums";
import { useQueryClient } from "@tanstack/react-query";
import { Fragment, useEffect, useState } from "react";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { messageOf } from "../../admin-client/request.ts";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { settings as texts } from "../../messages/en/settings.ts";
import { ui } from "../../messages/en/ui.ts";
import { ErrorNotice, Form, Notice, Switch, TextField } from "../../ui/forms/controls.tsx";
import { MultilineField } from "../../ui/forms/form-fields.tsx";
import { Loading, PageHeader, Section } from "../../ui/page.tsx";
import { Retention } from "./retention.tsx";
import { OwnerOnly, SaveButton, useUndoableChange } from "./settings-form.tsx";
import { UploadOrigins } from "./upload-origins.tsx";

export function SettingsPage() {
  const environment = useEnvironment();
  const queryClient = useQueryClient();
  const hasSettings = "retention" in environment;
  useEffect(() => {
    // The environment was loaded while the operator was an editor. Editors do not receive settings.
    if (!hasSettings) void queryClient.invalidateQueries(environmentsQuery);
  }, [hasSettings, queryClient]);
  const header = <PageHeader title={texts.title} description={texts.description(environment.name)} />;
  if (!hasSettings) {
    return (
      <>
        {header}
        <Loading />
      </>
    );
  }
  return (
    <>
      {header}
      <Fragment key={environment.id}>
        <AiTranscription environment={environment} />
        <Vocabulary environment={environment} />
        <Retention environment={environment} />
        <UploadOrigins environment={environment} />
        <Weight environment={environment} />
        <Section title={texts.environment}>
          <p>
            {environment.name} · <code>{environment.id}</code>
          </p>
        </Section>
      </Fragment>
    </>
  );
}

function AiTranscription({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const change = useUndoableChange(environment, {
    text: ({ aiTranscription }) => (aiTranscription ? texts.turnedOn : texts.turnedOff),
  });
  const { aiTranscription: isOn } = change.isPending ? { ...environment, ...change.variables } : environment;
  return (
    <Section title={texts.aiTranscription} description={texts.aiTranscriptionHint}>
      <ErrorNotice error={change.error} />
      <Switch
        isSelected={isOn}
        onChange={(aiTranscription) => change.mutate({ aiTranscription })}
        isDisabled={!isOwner}
      >
        {texts.transcribeUploads}
      </Switch>
      <Notice tone="plain">{isOn ? texts.whenOn : texts.whenOff}</Notice>
      {!isOwner && <OwnerOnly />}
    </Section>
  );
}

function Weight({ environment }: { environment: EnvironmentView }) {
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

function Vocabulary({ environment }: { environment: EnvironmentView }) {
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
