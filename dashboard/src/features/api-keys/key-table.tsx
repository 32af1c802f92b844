import type { ApiKeyView } from "@subtext/server/admin/contract/api-key";
import { request } from "../../admin-client/request.ts";
import { apiKeys as texts } from "../../messages/en/api-keys.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { formatAgo, formatDate } from "../../ui/format.ts";
import table from "../../ui/table.module.css";
import { permissionName } from "./permissions.ts";

/** @param props.onRevoked undefined hides the buttons that revoke keys */
export function KeyTable({
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
