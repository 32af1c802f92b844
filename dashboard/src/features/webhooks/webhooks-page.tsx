import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { messageOf } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Notice } from "../../ui/controls.tsx";
import { InEnvironment } from "../../ui/in-environment.tsx";
import pageCss from "../../ui/page.module.css";
import { Loading, PageHeader, Section } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { EndpointTable } from "./endpoint-table.tsx";
import { NewEndpoint } from "./new-endpoint.tsx";
import { endpointsQuery } from "./queries.ts";

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
