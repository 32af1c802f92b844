import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { ErrorNotice, Notice, Switch } from "../../ui/forms/controls.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { Retention } from "./retention.tsx";
import { OwnerOnly, useChangeEnvironment } from "./settings-form.tsx";
import { UploadOrigins } from "./upload-origins.tsx";
import { Vocabulary } from "./vocabulary.tsx";
import { Weight } from "./weight.tsx";

export function SettingsPage() {
  const environment = useEnvironment();
  return (
    <>
      <PageHeader title="Settings" description={`${environment.name} settings.`} />
      <AiTranscription environment={environment} />
      <Vocabulary key={`vocabulary ${environment.id}`} environment={environment} />
      <Retention key={environment.id} environment={environment} />
      <UploadOrigins key={`origins ${environment.id}`} environment={environment} />
      <Weight key={`weight ${environment.id}`} environment={environment} />
      <Section title="Environment">
        <p>
          {environment.name} · <code>{environment.id}</code>
        </p>
      </Section>
    </>
  );
}

function AiTranscription({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const change = useChangeEnvironment(environment);
  const { aiTranscription: isOn } = change.isPending ? { ...environment, ...change.variables } : environment;
  return (
    <Section title="AI Transcription" description="Automatically create captions, word timings and text.">
      <ErrorNotice error={change.error} />
      <Switch
        isSelected={isOn}
        onChange={(aiTranscription) => change.mutate({ aiTranscription })}
        isDisabled={!isOwner}
      >
        Transcribe new uploads
      </Switch>
      <Notice tone="plain">
        {isOn
          ? "Applies to new uploads. Existing videos don't change."
          : "New uploads won't be transcribed, even if you turn this on later. Queued videos still will be."}
      </Notice>
      {!isOwner && <OwnerOnly />}
    </Section>
  );
}
