import { useQuery } from "@tanstack/react-query";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { EmptyState, PageHeader, Section } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { EndpointTable } from "./endpoint-table.tsx";
import { NewEndpoint } from "./new-endpoint.tsx";
import { endpointsQuery } from "./queries.ts";

export function WebhooksPage() {
  const environment = useEnvironment();
  const isOwner = useRole() === "owner";
  return (
    <>
      <PageHeader title={texts.title} description={texts.description(environment.name)}>
        {isOwner && <NewEndpoint environmentId={environment.id} />}
      </PageHeader>
      <Endpoints environmentId={environment.id} isOwner={isOwner} />
    </>
  );
}

function Endpoints({ environmentId, isOwner }: { environmentId: string; isOwner: boolean }) {
  const query = useQuery(endpointsQuery(environmentId));
  const endpoints = query.data;
  const now = useNow(10_000);
  if (!endpoints) return <LoadState query={query} />;
  if (endpoints.length === 0) {
    return <EmptyState title={texts.noneYet}>{isOwner ? texts.purpose : texts.askOwner}</EmptyState>;
  }
  return (
    <Section title={texts.endpoints}>
      <LoadState query={query} />
      <EndpointTable endpoints={endpoints} now={now} />
      {!isOwner && <p className={table.soft}>{texts.ownersOnly}</p>}
    </Section>
  );
}
