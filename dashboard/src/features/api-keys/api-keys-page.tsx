import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { ErrorNotice } from "../../ui/forms/controls.tsx";
import { EmptyState, Loading, PageHeader, Section, ShowMore } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { KeyTable } from "./key-table.tsx";
import { NewKey } from "./new-key.tsx";
import { activeKeysQuery, apiKeysKey, inactiveKeysQuery } from "./queries.ts";

export function ApiKeysPage() {
  const environment = useEnvironment();
  const isOwner = useRole() === "owner";
  return (
    <>
      <PageHeader
        title="API keys"
        description={
          <>
            Keys give access to {environment.name} only. <a href="/docs">API docs</a>
          </>
        }
      >
        {isOwner && <NewKey environmentId={environment.id} />}
      </PageHeader>
      <ActiveKeys environmentId={environment.id} isOwner={isOwner} />
      <InactiveKeys environmentId={environment.id} />
    </>
  );
}

function ActiveKeys({ environmentId, isOwner }: { environmentId: string; isOwner: boolean }) {
  const queryClient = useQueryClient();
  const { data: keys, error } = useQuery(activeKeysQuery(environmentId));
  const now = useNow(15_000);
  if (!keys) return error ? <ErrorNotice error={error} /> : <Loading />;
  if (keys.length === 0) {
    return (
      <EmptyState title="No API keys yet">
        {isOwner
          ? "Create a key to upload videos and read transcriptions with the API."
          : "Ask an owner to create one."}
      </EmptyState>
    );
  }
  const refetch = () => queryClient.invalidateQueries({ queryKey: apiKeysKey(environmentId) });
  return (
    <Section title="Active keys">
      <KeyTable label="Active keys" keys={keys} now={now} {...(isOwner && { onRevoked: refetch })} />
      {!isOwner && <p className={table.soft}>Only owners can create or revoke keys.</p>}
    </Section>
  );
}

function InactiveKeys({ environmentId }: { environmentId: string }) {
  const keys = useInfiniteQuery(inactiveKeysQuery(environmentId));
  const now = useNow(60_000);
  const rows = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  if (rows.length === 0) return null;
  return (
    <Section title="Revoked and expired keys" description="These keys no longer work.">
      <KeyTable label="Revoked and expired keys" keys={rows} now={now} />
      <ShowMore query={keys} />
    </Section>
  );
}
