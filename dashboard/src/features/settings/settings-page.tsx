import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { Notice, Switch } from "../../ui/controls.tsx";
import { NotFoundPage } from "../../ui/error-pages.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { Retention } from "./retention.tsx";
import { UploadOrigins } from "./upload-origins.tsx";

export function SettingsPage() {
  const { environmentId } = useParams({ from: "/signed-in/environments/$environmentId/settings" });
  const { data: environments } = useSuspenseQuery(environmentsQuery);
  const environment = environments.find(({ id }) => id === environmentId);
  if (!environment) return <NotFoundPage />;
  return (
    <>
      <PageHeader title="Settings" lead={`General settings of ${environment.name}.`} />
      <AiTranscription environment={environment} />
      <Retention key={environment.id} environment={environment} />
      <UploadOrigins key={`origins ${environment.id}`} environment={environment} />
      <Section title="Environment">
        <p>
          {environment.name} · <code>{environment.id}</code>
        </p>
      </Section>
    </>
  );
}

function AiTranscription({ environment }: { environment: EnvironmentView }) {
  const { isOwner } = useMe();
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: (aiTranscription: boolean) =>
      request("PATCH /environments/:environment", {
        params: { environment: environment.id },
        body: { aiTranscription },
      }),
    onSuccess: (changed) => {
      queryClient.setQueryData(environmentsQuery.queryKey, (known) =>
        known?.map((each) => (each.id === changed.id ? changed : each)),
      );
    },
  });
  const isOn = change.isPending ? change.variables : environment.aiTranscription;
  return (
    <Section
      title="AI Transcription"
      lead="Videos are transcribed automatically: captions, words with their times, and text."
    >
      {change.error && <Notice tone="bad">{messageOf(change.error)}</Notice>}
      <Switch isSelected={isOn} onChange={(on) => change.mutate(on)} isDisabled={!isOwner}>
        Transcribe every video that finishes uploading
      </Switch>
      <Notice tone="plain">
        {isOn
          ? "On. It holds for videos that finish uploading from now on; videos that are here already stay as they are."
          : "Off. Videos that finish uploading from now on are not transcribed, and never will be by switching it on later. What is in the queue already is still transcribed."}
      </Notice>
      {!isOwner && <p>Only an owner can change this.</p>}
    </Section>
  );
}
