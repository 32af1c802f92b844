import type { OperatorAccess } from "../../db/enums.ts";
import type { EngineOptionView } from "./system.ts";

/** Allowed length of passwords, in characters. */
export const PASSWORD_LENGTH = { min: 12, max: 128 } as const;

/** All times are ISO 8601 UTC with milliseconds. */
export interface OperatorView extends OperatorAccess {
  id: string;
  name: string;
  email: string;
  createdAt: string;
}

export type MeView = Omit<OperatorView, "createdAt">;

/** Whether the service still needs its first operator. */
export interface SetupView {
  needed: boolean;
  /** False if the first environment must be created as well. */
  hasEnvironment: boolean;
  /** The engines to choose from; empty if settings determine the engine. */
  engines: EngineOptionView[];
}

export interface SetupRequest {
  /** The token of the setup link. */
  token: string;
  name: string;
  email: string;
  password: string;
  /** Omitted if an environment already exists. */
  environment?: { name: string; aiTranscription: boolean };
  /** The name of one of `SetupView.engines`. Without it, the default model is used. */
  engine?: string;
}

export interface InvitationView extends OperatorAccess {
  id: string;
  email: string;
  createdAt: string;
  expiresAt: string;
}

/** Response to creating an invitation. No other response contains the link. */
export type NewInvitationView = InvitationView & { url: string };

export interface SessionView {
  id: string;
  /** True for the session of this request. */
  current: boolean;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: string;
  expiresAt: string;
}
