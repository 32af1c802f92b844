import type { ApiKeyView } from "@subtext/server/admin/contract/api-key";
import { request } from "../../admin-client/request.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { ago } from "../../ui/format.ts";
import table from "../../ui/table.module.css";
import { PERMISSION_WORDS } from "./permissions.ts";

/**
 * @param onRevoked undefined where keys can not be revoked: by a viewer, or those that have ended
 */
export function KeyTable({
  name,
  keys,
  now,
  onRevoked,
}: {
  name: string;
  keys: readonly ApiKeyView[];
  now: number;
  onRevoked?: () => Promise<unknown>;
}) {
  return (
    <table className={table.table} aria-label={name}>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">May</th>
          <th scope="col">Made</th>
          <th scope="col">Ends</th>
          <th scope="col">Last used</th>
          {onRevoked && <td />}
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <td>
              <div className={table.name}>{key.name}</div>
              <code>{key.prefix}_…</code>
            </td>
            <td data-column="May">
              {key.permissions.map((permission) => PERMISSION_WORDS[permission].name).join(", ")}
            </td>
            <td data-column="Made">{ago(key.createdAt, now)}</td>
            <td data-column="Ends">{endOf(key, now)}</td>
            <td data-column="Last used">{key.lastUsedAt === null ? "never" : ago(key.lastUsedAt, now)}</td>
            {onRevoked && (
              <td>
                <Confirm
                  label="Revoke"
                  name={`Revoke ${key.name}`}
                  title={`Revoke ${key.name}?`}
                  act={async () => {
                    await request("DELETE /api-keys/:id", { params: { id: key.id } });
                    await onRevoked();
                  }}
                >
                  Requests with this key are refused at once, and it can not be taken back.
                  {key.lastUsedAt !== null && ` It was last used ${ago(key.lastUsedAt, now)}.`}
                </Confirm>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function endOf({ expiresAt, revokedAt }: ApiKeyView, now: number) {
  if (revokedAt !== null) return `revoked ${ago(revokedAt, now)}`;
  if (expiresAt === null) return "never";
  if (Date.parse(expiresAt) <= now) return `expired ${ago(expiresAt, now)}`;
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" }).format(new Date(expiresAt));
}
