import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { apiKeys as texts } from "../../messages/en/api-keys.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { EmptyState, PageHeader, Section, ShowMore } from "../../ui/page.tsx";
import { RichText } from "../../ui/rich-text.tsx";
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
        title={texts.title}
        description={
          <RichText parts={texts.description(environment.name, (label) => <a href="/docs">{label}</a>)} />
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
  const active = useQuery(activeKeysQuery(environmentId));
  const now = useNow(15_000);
  const keys = active.data;
  if (!keys) return <LoadState query={active} />;
  if (keys.length === 0) {
    return <EmptyState title={texts.noneYet}>{isOwner ? texts.purpose : texts.askOwner}</EmptyState>;
  }
  const refetch = () => queryClient.invalidateQueries({ queryKey: apiKeysKey(environmentId) });
  return (
    <Section title={texts.active}>
      <LoadState query={active} />
      <KeyTable label={texts.active} keys={keys} now={now} {...(isOwner && { onRevoked: refetch })} />
      {!isOwner && <p className={table.soft}>{texts.ownersOnly}</p>}
    </Section>
  );
}

function InactiveKeys({ environmentId }: { environmentId: string }) {
  const keys = useInfiniteQuery(inactiveKeysQuery(environmentId));
  const now = useNow(60_000);
  const rows = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  const isEmpty = rows.length === 0 && !keys.error;
  // Keep the section while a failed request is retried.
  if (isEmpty && (keys.data || keys.errorUpdateCount === 0)) return null;
  return (
    <Section title={texts.inactive} description={texts.inactiveHint}>
      <LoadState query={keys} />
      {rows.length > 0 && <KeyTable label={texts.inactive} keys={rows} now={now} />}
      <ShowMore query={keys} />
    </Section>
  );
}
