import { type Kysely, sql } from "kysely";

/**
 * Replaces session tokens with their hashes, and removes the token of an unused setup link: every start creates another.
 * A process of the previous release does not recognize these sessions, nor does this release recognize the ones that such
 * a process creates later; then operators have to sign in again.
 */
export async function sessionHashes(db: Kysely<unknown>): Promise<void> {
  await sql`update operator_session set token = encode(sha256(convert_to(token, 'UTF8')), 'hex')`.execute(db);
  await sql`delete from service_secret where name = 'set_up'`.execute(db);
}
