import type { GeneratedAlways } from "kysely";

/** The response to the first request with an `Idempotency-Key`. Repeated requests get the same response. */
export interface IdempotencyKeyTable {
  environment_id: string;
  key: string;
  /** SHA-256 of the request, hexadecimal. */
  fingerprint: string;
  status: number;
  body: string;
  created_at: Date;
}

/**
 * `installation` is not secret: it ties the database to its data folder. `set_up` is the hash of the setup link's
 * token, until the first operator exists.
 */
export type SecretName = "url_signing" | "session" | "installation" | "set_up";

export interface ServiceSecretTable {
  name: SecretName;
  /** Base64; hexadecimal for `set_up`. */
  value: string;
}

export interface EngineChoiceTable {
  only: GeneratedAlways<boolean>;
  /** Name of a model in the catalog, or `bundled`. */
  engine: string;
}
