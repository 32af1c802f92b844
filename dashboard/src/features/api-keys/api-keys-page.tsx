import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { messageOf } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Button, Notice } from "../../ui/controls.tsx";
import { InEnvironment } from "../../ui/in-environment.tsx";
import pageCss from "../../ui/page.module.css";
import { Loading, PageHeader, Section } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { KeyTable } from "./key-table.tsx";
import { NewKey } from "./new-key.tsx";
import { endedKeysQuery, keysKey, validKeysQuery } from "./queries.ts";

export function ApiKeysPage() {
  const { environmentId } = useParams({ from: "/signed-in/environments/$environmentId/api-keys" });
  const { isOwner } = useMe();
  return (
    <InEnvironment environmentId={environmentId}>
      {(environment) => (
        <>
          <PageHeader
            title="API keys"
            lead={
              <>
                Each opens {environment.name} and nothing else. <a href="/docs">How the API is used</a>
              </>
            }
          >
            {isOwner && <NewKey environmentId={environmentId} />}
          </PageHeader>
          <ValidKeys environmentId={environmentId} isOwner={isOwner} />
          <EndedKeys environmentId={environmentId} />
        </>
      )}
    </InEnvironment>
  );
}

function ValidKeys({ environmentId, isOwner }: { environmentId: string; isOwner: boolean }) {
  const queryClient = useQueryClient();
  const keys = useQuery(validKeysQuery(environmentId));
  const now = useNow(15_000);
  if (keys.error && !keys.data) return <Notice tone="bad">{messageOf(keys.error)}</Notice>;
  if (!keys.data) return <Loading />;
  if (keys.data.length === 0) {
    return (
      <div className={pageCss.empty}>
        <h2>No keys yet</h2>
        <p>Your programs need one to upload videos and to read transcriptions.</p>
      </div>
    );
  }
  const refresh = () => queryClient.invalidateQueries({ queryKey: keysKey(environmentId) });
  return (
    <Section title="Keys in force">
      <KeyTable name="Keys in force" keys={keys.data} now={now} {...(isOwner && { onRevoked: refresh })} />
      {!isOwner && <p className={table.soft}>Only an owner can make and revoke keys.</p>}
    </Section>
  );
}

function EndedKeys({ environmentId }: { environmentId: string }) {
  const keys = useInfiniteQuery(endedKeysQuery(environmentId));
  const now = useNow(60_000);
  const rows = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  if (rows.length === 0) return null;
  return (
    <Section title="Revoked and expired" lead="They open nothing any more.">
      <KeyTable name="Revoked and expired" keys={rows} now={now} />
      {keys.hasNextPage && (
        <div className={table.more}>
          <Button onPress={() => keys.fetchNextPage()} isPending={keys.isFetchingNextPage}>
            Show more
          </Button>
        </div>
      )}
    </Section>
  );
}
