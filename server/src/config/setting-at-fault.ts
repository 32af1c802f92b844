/** Errors of PostgreSQL (by SQLSTATE) and S3 (by error code) that an invalid setting causes. */
const SETTINGS_BY_CODE: Record<string, string> = {
  "28P01": "DATABASE_URL: the database refuses the user or the password",
  "28000": "DATABASE_URL: the database refuses the user",
  "3D000": "DATABASE_URL: there is no database with this name",
  InvalidAccessKeyId: "S3_ACCESS_KEY_ID: the storage does not know this key",
  SignatureDoesNotMatch: "S3_SECRET_ACCESS_KEY: it does not belong to S3_ACCESS_KEY_ID",
  NoSuchBucket: "S3_BUCKET: there is no bucket with this name",
};

/** The setting that probably caused the error; null if unknown. */
export function settingAtFault(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code, name } = error as Error & { code?: unknown };
  return SETTINGS_BY_CODE[String(code)] ?? SETTINGS_BY_CODE[name] ?? settingAtFault(error.cause);
}
