import { JOIN_PATH } from "../admin/contract/pages.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { OperatorInvitationRow } from "../db/tables/operators.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { hashToken, newToken } from "../lib/secret-token.ts";
import { type AccessRequest, resolveAccess } from "./access.ts";
import { type Credentials, checkEmail, type Operators } from "./operators.ts";
import { consumeInvitation, findInvitation, insertInvitation, listOperators } from "./queries.ts";

const INVITATION_LIFETIME_MS = 7 * 86_400_000;

export interface InvitationDeps {
  db: Db;
  clock: Clock;
  operators: Operators;
}

/**
 * Creates a single-use link for an account, so that only its owner ever knows the password. Revokes an earlier
 * invitation to the same email.
 * @returns the link, which is not stored
 * @throws AppError `invalid_request`, `environment_not_found`, `operator_email_taken`
 */
export async function invite(
  { db, clock, operators }: InvitationDeps,
  { email: given, ...request }: AccessRequest & { email: string },
): Promise<{ invitation: OperatorInvitationRow; url: string }> {
  const email = checkEmail(given);
  if ((await listOperators(db)).some((operator) => operator.email === email)) {
    throw new AppError("operator_email_taken", `An operator with the email ${email} already exists.`);
  }
  const { role, environments } = await resolveAccess(db, request);
  const token = newToken();
  const now = clock.now();
  const invitation = await insertInvitation(db, {
    id: newId("invitation"),
    email,
    role,
    environments: JSON.stringify(environments),
    token_hash: hashToken(token),
    created_at: now,
    expires_at: new Date(now.getTime() + INVITATION_LIFETIME_MS),
  });
  return { invitation, url: `${operators.origin}${JOIN_PATH}#${token}` };
}

/** @throws AppError `invitation_invalid` */
export async function lookUpInvitation(
  { db, clock }: InvitationDeps,
  token: string,
): Promise<OperatorInvitationRow> {
  const invitation = await findInvitation(db, hashToken(token), clock.now());
  if (!invitation) throw invitationInvalid();
  return invitation;
}

/**
 * Creates an account from an invitation.
 * @throws AppError `invitation_invalid`, `invalid_request`, `operator_email_taken`
 */
export async function acceptInvitation(
  { clock, operators }: InvitationDeps,
  { token, name, password }: { token: string; name: string; password: string },
  inTransaction: NonNullable<Parameters<Operators["join"]>[2]>,
): Promise<Credentials> {
  const authorize = async (tx: Tx) => {
    const invitation = await consumeInvitation(tx, hashToken(token), clock.now());
    if (!invitation) throw invitationInvalid();
    return invitation;
  };
  return await operators.join({ name, password }, authorize, inTransaction);
}

function invitationInvalid(): AppError {
  return new AppError(
    "invitation_invalid",
    "This invitation was used or revoked, or has expired. Ask for a new one.",
  );
}
