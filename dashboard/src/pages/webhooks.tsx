import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { messageOf } from "../data/request.ts";
import { endpointsQuery } from "../data/webhooks.ts";
import { Notice } from "../design/controls.tsx";
import pageCss from "../parts/page.module.css";
import { Loading, PageHeader, Section } from "../parts/page.tsx";
import table from "../parts/table.module.css";
import { useMe } from "../parts/use-me.ts";
import { useNow } from "../parts/use-now.ts";
import { EndpointTable } from "../parts/webhooks/endpoint-table.tsx";
import { NewEndpoint } from "../parts/webhooks/new-endpoint.tsx";
import { InEnvironment } from "./in-environment.tsx";

export function WebhooksPage() {
  const { environmentId } = useParams({ from: "/signed-in/environments/$environmentId/webhooks" });
  const { isOwner } = useMe();
  return (
    <InEnvironment environmentId={environmentId}>
      {(environment) => (
        <>
          <PageHeader
            title="Webhooks"
            lead={`We notify these URLs when transcriptions in ${environment.name} finish.`}
          >
            {isOwner && <NewEndpoint environmentId={environmentId} />}
          </PageHeader>
          <Endpoints environmentId={environmentId} isOwner={isOwner} />
        </>
      )}
    </InEnvironment>
  );
}

function Endpoints({ environmentId, isOwner }: { environmentId: string; isOwner: boolean }) {
  const endpoints = useQuery(endpointsQuery(environmentId));
  const now = useNow(10_000);
  if (endpoints.error && !endpoints.data) return <Notice tone="bad">{messageOf(endpoints.error)}</Notice>;
  if (!endpoints.data) return <Loading />;
  if (endpoints.data.length === 0) {
    return (
      <div className={pageCss.empty}>
        <h2>No endpoints yet</h2>
        <p>Get notified instead of polling.</p>
      </div>
    );
  }
  return (
    <Section title="Endpoints">
      <EndpointTable endpoints={endpoints.data} now={now} />
      {!isOwner && <p className={table.soft}>Only an owner can create and change endpoints.</p>}
    </Section>
  );
}
