import type { OperatorRole } from "../../db/enums.ts";

/** What passwords must have, in characters. */
export const PASSWORD_LENGTH = { min: 12, max: 128 } as const;

/** All times are ISO 8601 UTC with milliseconds. */
export interface OperatorView {
  id: string;
  name: string;
  email: string;
  role: OperatorRole;
  createdAt: string;
}

/** Whoever is signed in. */
export type MeView = Omit<OperatorView, "createdAt">;

/** Whether the service waits for its first operator. */
export interface SetUpView {
  needed: boolean;
  /** False where the first environment is to be made as well. */
  hasEnvironment: boolean;
}

export interface SetUpRequest {
  /** From the set-up link. */
  token: string;
  name: string;
  email: string;
  password: string;
  /** Left out where there is one already. */
  environment?: { name: string; aiTranscription: boolean };
}

export interface InvitationView {
  id: string;
  email: string;
  role: OperatorRole;
  createdAt: string;
  expiresAt: string;
}

/** The answer to its making, the only one that holds the link. */
export type NewInvitationView = InvitationView & { url: string };

export interface JoinRequest {
  /** From the invitation's link. */
  token: string;
  name: string;
  password: string;
}

/** A sign-in that lasts. */
export interface SessionView {
  id: string;
  /** Whether it is the one that asks. */
  current: boolean;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: string;
  expiresAt: string;
}
