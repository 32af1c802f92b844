import type { Insertable, JSONColumnType, Selectable } from "kysely";
import type { ActorKind, AuditAction, AuditDetail, EnvironmentRole, OperatorRole } from "../enums.ts";

/** This and the next two tables are shared with better-auth. */
export interface OperatorTable {
  id: string;
  name: string;
  /** Lower case. */
  email: string;
  email_verified: boolean;
  /** Role in all environments. Null if `operator_membership` has a role for each environment. */
  role: OperatorRole | null;
  created_at: Date;
  updated_at: Date;
}

export interface OperatorAccountTable {
  id: string;
  operator_id: string;
  /** `credential`, for email and password. */
  provider_id: string;
  account_id: string;
  /** scrypt: salt and key, hexadecimal. */
  password_hash: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface OperatorSessionTable {
  id: string;
  /** The SHA-256 hash of the token in the cookie, in hexadecimal. */
  token: string;
  operator_id: string;
  expires_at: Date;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface OperatorInvitationTable {
  id: string;
  email: string;
  role: OperatorRole | null;
  environments: JSONColumnType<EnvironmentRole[]>;
  /** SHA-256 of the link's token, hexadecimal. */
  token_hash: string;
  created_at: Date;
  expires_at: Date;
}

export interface OperatorMembershipTable {
  operator_id: string;
  environment_id: string;
  role: OperatorRole;
}

/** Ids and names are from the time of the event, because the resources may no longer exist. */
export interface AuditEventTable {
  id: string;
  at: Date;
  action: AuditAction;
  actor_kind: ActorKind;
  /** Id of an operator or an API key. */
  actor_id: string | null;
  actor_name: string | null;
  /** IP address. */
  address: string | null;
  environment_id: string | null;
  environment_name: string | null;
  subject_id: string | null;
  subject_name: string | null;
  detail: JSONColumnType<AuditDetail>;
}

export type OperatorRow = Selectable<OperatorTable>;
export type OperatorSessionRow = Selectable<OperatorSessionTable>;
export type AuditEventRow = Selectable<AuditEventTable>;
export type NewAuditEvent = Insertable<AuditEventTable>;
export type OperatorInvitationRow = Selectable<OperatorInvitationTable>;
export type NewOperatorInvitation = Insertable<OperatorInvitationTable>;
