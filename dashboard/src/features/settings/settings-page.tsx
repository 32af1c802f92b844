import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { settings as texts } from "../../messages/en/settings.ts";
import { ErrorNotice, Notice, Switch } from "../../ui/forms/controls.tsx";
import { Loading, PageHeader, Section } from "../../ui/page.tsx";
import { Retention } from "./retention.tsx";
import { OwnerOnly, useUndoableChange } from "./settings-form.tsx";
import { UploadOrigins } from "./upload-origins.tsx";
import { Vocabulary } from "./vocabulary.tsx";
import { Weight } from "./weight.tsx";

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
      <AiTranscription environment={environment} />
      <Vocabulary key={`vocabulary ${environment.id}`} environment={environment} />
      <Retention key={environment.id} environment={environment} />
      <UploadOrigins key={`origins ${environment.id}`} environment={environment} />
      <Weight key={`weight ${environment.id}`} environment={environment} />
      <Section title={texts.environment}>
        <p>
          {environment.name} · <code>{environment.id}</code>
        </p>
      </Section>
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
