import { randomInt } from "node:crypto";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import type { Logger } from "pino";
import type { Clock } from "./clock.ts";
import { hasOperator, insertOperator, replacePassword } from "./db/operators.ts";
import type { Db } from "./db/schema.ts";
import { newId } from "./ids.ts";

/** Where better-auth's own routes are mounted. */
export const SIGN_IN_PATH = "/internal/auth";
/** What the bridge to better-auth says the client's address is; never taken from a client. */
export const CLIENT_ADDRESS_HEADER = "x-subtext-client-address";

const FIRST_EMAIL = "operator@subtext.local";
const MIN_PASSWORD_LENGTH = 12;
// Without the characters that look like others; 20 of them are 114 bits.
const PASSWORD_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const PASSWORD_GROUPS = 4;
const PASSWORD_GROUP_LENGTH = 5;

export interface Credentials {
  email: string;
  password: string;
}

export interface OperatorSession {
  email: string;
  /** Cookies to set, where the session was prolonged. */
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

export type Operators = ReturnType<typeof openOperators>;

/** The people who run the service: their sign-in, by email and password, and their sessions. */
export function openOperators(options: OperatorsOptions) {
  const { db, clock } = options;
  const auth = betterAuth(authOptions(options));

  const hashPassword = async (password: string): Promise<string> =>
    await (await auth.$context).password.hash(password);

  return {
    /** Where pages that may sign in come from. */
    origin: new URL(options.publicUrl).origin,

    /**
     * Makes the first operator where there is none.
     * @returns the credentials, which are told this once; null where there is an operator already
     */
    async makeFirst(): Promise<Credentials | null> {
      if (await hasOperator(db)) return null;
      const credentials = { email: FIRST_EMAIL, password: newPassword() };
      const passwordHash = await hashPassword(credentials.password);
      const operator = { id: newId("operator"), email: FIRST_EMAIL, passwordHash, now: clock.now() };
      const made = await db.transaction().execute((tx) => insertOperator(tx, operator));
      return made ? credentials : null;
    },

    /** A new password for the operator, made where there is none; every session ends. */
    async resetPassword(): Promise<Credentials> {
      const first = await this.makeFirst();
      if (first) return first;
      const credentials = { email: FIRST_EMAIL, password: newPassword() };
      const passwordHash = await hashPassword(credentials.password);
      await db
        .transaction()
        .execute((tx) => replacePassword(tx, { email: FIRST_EMAIL, passwordHash, now: clock.now() }));
      return credentials;
    },

    /** Answers a request to `SIGN_IN_PATH`. */
    handle: (request: Request): Promise<Response> => auth.handler(request),

    /** The session that the cookies belong to; null where they belong to none (any more). */
    async findSession(headers: Headers): Promise<OperatorSession | null> {
      const found = await auth.api.getSession({ headers, returnHeaders: true });
      if (!found.response) return null;
      return { email: found.response.user.email, setCookies: found.headers.getSetCookie() };
    },
  };
}

/** What better-auth is told; a test holds our tables against it. */
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
      minPasswordLength: MIN_PASSWORD_LENGTH,
    },
    user: {
      modelName: "operator",
      fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
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
      // Sessions may be listed and ended for as long as they live.
      freshAge: 0,
    },
    verification: {
      modelName: "operator_verification",
      fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
    },
    // Attempts are counted in front of it, by the address that Fastify knows.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: "subtext",
      useSecureCookies: protocol === "https:",
      defaultCookieAttributes: { httpOnly: true, sameSite: "strict", path: "/internal" },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
      // Said out loud: better-auth drops both where it believes that it is under test.
      disableCSRFCheck: false,
      disableOriginCheck: false,
      // Sessions are the only rows that better-auth makes here. That the tables fit is looked at by a test:
      // at every start it would cost every command.
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

/** `xxxxx-xxxxx-xxxxx-xxxxx`: long enough to need no rule, short enough to be typed once. */
function newPassword(): string {
  const group = () =>
    Array.from(
      { length: PASSWORD_GROUP_LENGTH },
      () => PASSWORD_ALPHABET[randomInt(PASSWORD_ALPHABET.length)],
    );
  return Array.from({ length: PASSWORD_GROUPS }, () => group().join("")).join("-");
}
