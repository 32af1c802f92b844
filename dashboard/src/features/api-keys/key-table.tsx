import type { ApiKeyView } from "@subtext/server/admin/contract/api-key";
import { request } from "../../admin-client/request.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { formatAgo } from "../../ui/format.ts";
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
      columns={["Key", "Permissions", "Created", "Expires", "Last used"]}
      hasActions={onRevoked !== undefined}
    >
      {keys.map((key) => (
        <tr key={key.id}>
          <td>
            <div className={table.name}>{key.name}</div>
            <code>{key.prefix}_…</code>
          </td>
          <td data-column="Permissions">{key.permissions.map(permissionName).join(", ")}</td>
          <td data-column="Created">{formatAgo(key.createdAt, now)}</td>
          <td data-column="Expires">{expiryText(key, now)}</td>
          <td data-column="Last used">
            {key.lastUsedAt === null ? "Never" : formatAgo(key.lastUsedAt, now)}
          </td>
          {onRevoked && (
            <td>
              <Confirm
                label="Revoke"
                accessibleName={`Revoke ${key.name}`}
                title={`Revoke ${key.name}?`}
                action={async () => {
                  await request("DELETE /api-keys/:id", { params: { id: key.id } });
                  await onRevoked();
                }}
              >
                Requests using this key will fail immediately. This can't be undone.
                {key.lastUsedAt !== null && ` It was last used ${formatAgo(key.lastUsedAt, now)}.`}
              </Confirm>
            </td>
          )}
        </tr>
      ))}
    </DataTable>
  );
}

function expiryText({ expiresAt, revokedAt }: ApiKeyView, now: number): string {
  if (revokedAt !== null) return `Revoked ${formatAgo(revokedAt, now)}`;
  if (expiresAt === null) return "Never";
  if (Date.parse(expiresAt) <= now) return `Expired ${formatAgo(expiresAt, now)}`;
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" }).format(new Date(expiresAt));
}
