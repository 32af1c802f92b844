import { randomInt } from "node:crypto";
import type { BetterAuthOptions } from "better-auth";
import type { Logger } from "pino";
import { type MeView, PASSWORD_LENGTH } from "../admin/contract/operator.ts";
import { OPERATOR_ROLES, type OperatorAccess } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { hashToken, newToken } from "../lib/secret-token.ts";
import { type AccessRequest, resolveAccess } from "./access.ts";
import {
  consumeSetupToken,
  deleteOperator,
  hasOperator,
  insertOperator,
  listMemberships,
  listOperators,
  type NewOperator,
  type Operator,
  replaceAccess,
  replacePassword,
  replaceSetupToken,
} from "./queries.ts";
import { hashSessionTokens } from "./session-tokens.ts";

/** Base path of better-auth's routes. */
export const SIGN_IN_PATH = "/internal/auth";
/** The header that passes the client's address to better-auth. Values that clients send are replaced. */
export const CLIENT_ADDRESS_HEADER = "x-subtext-client-address";

// Excludes characters that look alike. 20 of these characters provide 116 bits.
const PASSWORD_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const PASSWORD_GROUPS = 4;
const PASSWORD_GROUP_LENGTH = 5;

export interface Credentials {
  email: string;
  password: string;
}

export interface NewOperatorRequest extends Credentials {
  name: string;
}

export interface OperatorSession {
  id: string;
  operator: MeView;
  /** Cookies to set because the session was extended. */
  setCookies: string[];
}

export interface OperatorsOptions {
  db: Db;
  clock: Clock;
  log: Logger;
  /** Signs the session cookies. */
  secret: Uint8Array;
  publicUrl: string;
}

type InTransaction = (tx: Tx, operator: Operator) => Promise<unknown>;

export type Operators = ReturnType<typeof openOperators>;

export function openOperators(options: OperatorsOptions) {
  const { db, clock } = options;
  let opened: ReturnType<typeof openAuth> | undefined;
  // Loaded on first use, because loading takes a fifth of the startup time.
  const auth = () => {
    opened ??= openAuth(options);
    return opened;
  };

  const hashPassword = async (password: string): Promise<string> => {
    const checked = checkPassword(password);
    const { password: passwords } = await (await auth()).$context;
    return await passwords.hash(checked);
  };

  /** @throws AppError `operator_email_taken` */
  const insert = async (tx: Tx, operator: Omit<NewOperator, "id" | "now">): Promise<string> => {
    const id = newId("operator");
    if (await insertOperator(tx, { ...operator, id, now: clock.now() })) return id;
    throw new AppError(
      "operator_email_taken",
      `An operator with the email ${operator.email} already exists.`,
    );
  };

  return {
    /** Origin of pages that may sign in. */
    origin: new URL(options.publicUrl).origin,

    needsSetUp: async (): Promise<boolean> => !(await hasOperator(db)),

    /** Creates the token of a new setup link and invalidates earlier ones. Returns null if an operator exists. */
    async newSetupToken(): Promise<string | null> {
      if (await hasOperator(db)) return null;
      const token = newToken();
      await replaceSetupToken(db, hashToken(token));
      return token;
    },

    /**
     * Creates the first operator, an owner, with the single-use token of the setup link.
     * @throws AppError `set_up_link_invalid`, `invalid_request`
     */
    async setUp(
      token: string,
      request: NewOperatorRequest,
      inTransaction: (tx: Tx, operatorId: string) => Promise<unknown>,
    ): Promise<Credentials> {
      const email = checkEmail(request.email);
      const name = checkName(request.name);
      const passwordHash = await hashPassword(request.password);
      await db.transaction().execute(async (tx) => {
        if (!(await consumeSetupToken(tx, hashToken(token))) || (await hasOperator(tx))) {
          throw new AppError(
            "set_up_link_invalid",
            "This link was already used or replaced. The service prints a new link each time it starts.",
          );
        }
        const access: OperatorAccess = { role: "owner", environments: [] };
        await inTransaction(tx, await insert(tx, { name, email, ...access, passwordHash }));
      });
      return { email, password: request.password };
    },

    /**
     * Creates an operator. The authorization is checked in the same transaction.
     * @param authorize returns the email and the access, or throws
     */
    async join(
      request: { name: string; password: string },
      authorize: (tx: Tx) => Promise<OperatorAccess & { email: string }>,
      inTransaction: (
        tx: Tx,
        operator: OperatorAccess & { id: string; email: string },
      ) => Promise<unknown> = async () => {},
    ): Promise<Credentials> {
      const name = checkName(request.name);
      const passwordHash = await hashPassword(request.password);
      return await db.transaction().execute(async (tx) => {
        const { email, role, environments } = await authorize(tx);
        const id = await insert(tx, { name, email, role, environments, passwordHash });
        await inTransaction(tx, { id, email, role, environments });
        return { email, password: request.password };
      });
    },

    /**
     * Sets a new password for an operator and ends all of the operator's sessions.
     * @param email may be null if there is only one operator
     * @throws AppError `operator_not_found`, `invalid_request`
     */
    async resetPassword(
      email: string | null,
      inTransaction: InTransaction = async () => {},
    ): Promise<Credentials> {
      const all = await listOperators(db);
      if (all.length === 0) {
        throw new AppError(
          "operator_not_found",
          "There are no operators yet. Open the setup link that `subtext serve` prints when it starts.",
        );
      }
      if (email === null && all.length > 1) {
        const emails = all.map((each) => each.email).join(", ");
        throw new AppError("invalid_request", `There are several operators. Specify one of them: ${emails}.`);
      }
      const operator = email === null ? all[0] : all.find((each) => each.email === email.toLowerCase());
      if (!operator) throw new AppError("operator_not_found", `There is no operator ${email}.`);
      const credentials = { email: operator.email, password: newPassword() };
      const passwordHash = await hashPassword(credentials.password);
      const replaced = { operatorId: operator.id, passwordHash, now: clock.now() };
      await db.transaction().execute(async (tx) => {
        await replacePassword(tx, replaced);
        await inTransaction(tx, operator);
      });
      return credentials;
    },

    /**
     * Replaces an operator's roles. Open sessions continue with the new roles.
     * @throws AppError `invalid_request`, `environment_not_found`, `operator_not_found`, `last_owner`
     */
    async changeAccess(
      id: string,
      request: AccessRequest,
      inTransaction: (tx: Tx, before: Operator, access: OperatorAccess) => Promise<unknown>,
    ): Promise<Operator> {
      return await db.transaction().execute(async (tx) => {
        const access = await resolveAccess(tx, request);
        const before = await replaceAccess(tx, id, { ...access, now: clock.now() });
        if (before === "not_found") throw new AppError("operator_not_found", "There is no such operator.");
        if (before === "last_owner") {
          throw new AppError(
            "last_owner",
            "This is the only owner of all environments. Add another owner first.",
          );
        }
        await inTransaction(tx, before, access);
        return { ...before, ...access };
      });
    },

    /** @throws AppError `operator_not_found`, `last_owner` */
    async remove(id: string, inTransaction: InTransaction): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const removed = await deleteOperator(tx, id);
        if (removed === "not_found") throw new AppError("operator_not_found", "There is no such operator.");
        if (removed === "last_owner") {
          throw new AppError("last_owner", "This is the only owner. Invite another owner first.");
        }
        await inTransaction(tx, removed);
      });
    },

    handle: async (request: Request): Promise<Response> => await (await auth()).handler(request),

    /** Returns the session that the cookies identify, or null. */
    async findSession(headers: Headers): Promise<OperatorSession | null> {
      const found = await (await auth()).api.getSession({ headers, returnHeaders: true });
      if (!found.response) return null;
      const { id, name, email } = found.response.user;
      const role = OPERATOR_ROLES.find((each) => each === found.response?.user.role) ?? null;
      const environments = role === null ? await listMemberships(db, id) : [];
      return {
        id: found.response.session.id,
        operator: { id, name, email, role, environments },
        setCookies: found.headers.getSetCookie(),
      };
    },
  };
}

async function openAuth(options: OperatorsOptions) {
  const [{ betterAuth }, { getAdapter }] = await Promise.all([
    import("better-auth"),
    import("better-auth/db/adapter"),
  ]);
  const auth = authOptions(options);
  const adapter = await getAdapter(auth);
  return betterAuth({ ...auth, database: () => hashSessionTokens(adapter) });
}

/** better-auth's configuration. A test compares it with the tables. */
export function authOptions({ db, log, secret, publicUrl }: OperatorsOptions) {
  const { origin, protocol } = new URL(publicUrl);
  return {
    appName: "Subtext",
    baseURL: origin,
    basePath: SIGN_IN_PATH,
    trustedOrigins: [origin],
    secret: Buffer.from(secret).toString("base64"),
    database: { db, type: "postgres" },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
    },
    user: {
      modelName: "operator",
      fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
      additionalFields: { role: { type: "string", required: false, input: false } },
    },
    account: {
      modelName: "operator_account",
      fields: {
        userId: "operator_id",
        providerId: "provider_id",
        accountId: "account_id",
        password: "password_hash",
        accessToken: "access_token",
        refreshToken: "refresh_token",
        idToken: "id_token",
        accessTokenExpiresAt: "access_token_expires_at",
        refreshTokenExpiresAt: "refresh_token_expires_at",
        createdAt: "created_at",
        updatedAt: "updated_at",
      },
    },
    session: {
      modelName: "operator_session",
      fields: {
        userId: "operator_id",
        expiresAt: "expires_at",
        ipAddress: "ip_address",
        userAgent: "user_agent",
        createdAt: "created_at",
        updatedAt: "updated_at",
      },
      // Lets operators list and end sessions without signing in again.
      freshAge: 0,
    },
    verification: {
      modelName: "operator_verification",
      fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
    },
    // Requests have already passed the service's own rate limits.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: "subtext",
      useSecureCookies: protocol === "https:",
      defaultCookieAttributes: { httpOnly: true, sameSite: "strict", path: "/internal" },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      // Explicit, because better-auth disables both checks in test environments.
      disableCSRFCheck: false,
      disableOriginCheck: false,
      // better-auth creates only sessions. The tables are validated by a test, because validation at every start would
      // slow down each command.
      database: { generateId: () => newId("session"), validateSchema: false },
    },
    telemetry: { enabled: false },
    experimental: { instrumentation: { enabled: false } },
    logger: {
      level: "warn",
      log: (level, message, ...details) => {
        const [error] = details.filter((detail) => detail instanceof Error);
        log[level]({ ...(error && { err: error }) }, `sign-in: ${message}`);
      },
    },
  } satisfies BetterAuthOptions;
}

/**
 * Converts an email to lower case, its stored form. Rejects emails with which an operator could not sign in.
 * @throws AppError `invalid_request`
 */
export function checkEmail(text: string): string {
  const email = text.trim().toLowerCase();
  const local = /^[a-z0-9_+'-]+(\.[a-z0-9_+'-]+)*$/;
  const domain = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/;
  const at = email.lastIndexOf("@");
  if (email.length > 254 || !local.test(email.slice(0, at)) || !domain.test(email.slice(at + 1))) {
    throw new AppError("invalid_request", "This is not a valid email address.");
  }
  return email;
}

/** @throws AppError `invalid_request` */
export function checkName(text: string): string {
  const name = text.trim();
  if (name.length === 0 || [...name].length > 100 || /[\p{Cc}\p{Cs}]/u.test(name)) {
    throw new AppError("invalid_request", "A name must have 1 to 100 printable characters.");
  }
  return name;
}

/** @throws AppError `invalid_request` */
export function checkPassword(password: string): string {
  const { min, max } = PASSWORD_LENGTH;
  if (password.length >= min && password.length <= max) return password;
  throw new AppError("invalid_request", `A password must have ${min} to ${max} characters.`);
}

/** `xxxxx-xxxxx-xxxxx-xxxxx` */
function newPassword(): string {
  const group = () =>
    Array.from(
      { length: PASSWORD_GROUP_LENGTH },
      () => PASSWORD_ALPHABET[randomInt(PASSWORD_ALPHABET.length)],
    );
  return Array.from({ length: PASSWORD_GROUPS }, () => group().join("")).join("-");
}
