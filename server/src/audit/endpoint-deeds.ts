import type { AuditAction, AuditDetail } from "../db/enums.ts";
import type { Db, Tx, WebhookEndpointRow } from "../db/schema.ts";
import { findEnvironment } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { type Author, writeDown } from "./audit.ts";

/** Of its URL the host alone is written down: paths and queries of such URLs are often secrets. */
export async function writeDownEndpoint(
  { tx, clock }: { tx: Db | Tx; clock: Clock },
  author: Author,
  action: AuditAction,
  { id, url, environment_id }: Pick<WebhookEndpointRow, "id" | "url" | "environment_id">,
  detail: AuditDetail = {},
): Promise<void> {
  const environment = await findEnvironment(tx, environment_id);
  await writeDown({ tx, clock }, author, {
    action,
    subject: { id, name: new URL(url).host },
    detail,
    ...(environment && { environment }),
  });
}

/** What was asked for, by its names; that it was taken into or out of use is told in full. */
export async function writeDownEndpointChange(
  deps: { tx: Tx; clock: Clock },
  author: Author,
  row: WebhookEndpointRow,
  change: { enabled?: boolean; eventTypes?: readonly string[] },
): Promise<void> {
  const { enabled, eventTypes } = change;
  await writeDownEndpoint(deps, author, "webhook_endpoint.changed", row, {
    changed: Object.keys(change).sort(),
    ...(enabled !== undefined && { enabled }),
    ...(eventTypes !== undefined && { eventTypes: [...eventTypes] }),
  });
}
