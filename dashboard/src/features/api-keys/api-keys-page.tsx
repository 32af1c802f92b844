import type { ApiKeyView } from "@subtext/server/admin/contract/api-key";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../../admin-client/request.ts";
import { useEnvironment } from "../../hooks/use-environment.ts";
import { useRole } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { apiKeys as texts } from "../../messages/en/api-keys.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { formatAgo, formatDate } from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { EmptyState, PageHeader, Section, ShowMore } from "../../ui/page.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import table from "../../ui/table.module.css";
import { NewKey } from "./new-key.tsx";
import { permissionName } from "./permissions.ts";
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

/** @param props.onRevoked undefined hides the buttons that revoke keys */
function KeyTable({
  label,
  keys,
  now,
  onRevoked,
}: {
  label: string;
  keys: readonly ApiKeyView[];
  now: number;
  onRevoked?: () => Promise<unknown>;
}) {
  return (
    <DataTable
      label={label}
      columns={[texts.key, texts.permissionsLabel, texts.created, texts.expires, texts.lastUsed]}
      hasActions={onRevoked !== undefined}
    >
      {keys.map((key) => (
        <tr key={key.id}>
          <td>
            <div className={table.name}>{key.name}</div>
            <code>{key.prefix}_…</code>
          </td>
          <td data-column={texts.permissionsLabel}>{key.permissions.map(permissionName).join(", ")}</td>
          <td data-column={texts.created}>{formatAgo(key.createdAt, now)}</td>
          <td data-column={texts.expires}>{expiryText(key, now)}</td>
          <td data-column={texts.lastUsed}>
            {key.lastUsedAt === null ? texts.never : formatAgo(key.lastUsedAt, now)}
          </td>
          {onRevoked && (
            <td>
              <Confirm
                label={texts.revoke}
                accessibleName={texts.revokeName(key.name)}
                title={texts.revokeQuestion(key.name)}
                typed={key.name}
                action={async () => {
                  await request("DELETE /api-keys/:id", { params: { id: key.id } });
                  await onRevoked();
                }}
              >
                {texts.revokeEffect}
                {key.lastUsedAt !== null && ` ${texts.wasLastUsed(formatAgo(key.lastUsedAt, now))}`}
              </Confirm>
            </td>
          )}
        </tr>
      ))}
    </DataTable>
  );
}

function expiryText({ expiresAt, revokedAt }: ApiKeyView, now: number): string {
  if (revokedAt !== null) return texts.revokedWhen(formatAgo(revokedAt, now));
  if (expiresAt === null) return texts.never;
  if (Date.parse(expiresAt) <= now) return texts.expiredWhen(formatAgo(expiresAt, now));
  return formatDate(expiresAt);
}
