import type { SettingName } from "./settings.ts";
import type { SettingsReader } from "./settings-reader.ts";

/** The object storage for recordings and transcripts. `kind` is the type of the backend. */
export type ObjectStorageConfig = S3Config & {
  kind: "s3";
  /** The backend's settings, for error messages. */
  settings: "S3_…";
};

export function readObjectStorage(settings: SettingsReader): ObjectStorageConfig | null {
  const s3 = readS3(settings);
  return s3 && { kind: "s3", settings: "S3_…", ...s3 };
}

/** A bucket of Amazon S3 or of a server with a compatible API. */
export interface S3Config {
  name: string;
  region: string;
  /** Null for AWS. */
  endpoint: string | null;
  /** The endpoint in presigned URLs for clients; null if clients use `endpoint`. */
  publicEndpoint: string | null;
  /** Uses `https://host/bucket/key` instead of `https://bucket.host/key`. */
  forcePathStyle: boolean;
  /** Null to use the default credential chain of the AWS SDK: environment, shared files, IAM role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** Prefix of every key: empty, or ends with a slash. */
  prefix: string;
}

const NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^([A-Za-z0-9_.-]+\/)*$/;
const MAX_PREFIX = 200;
const BUCKET_SETTINGS: readonly SettingName[] = [
  "S3_REGION",
  "S3_ENDPOINT",
  "S3_PUBLIC_ENDPOINT",
  "S3_FORCE_PATH_STYLE",
  "S3_ACCESS_KEY_ID",
  "S3_SECRET_ACCESS_KEY",
  "S3_PREFIX",
];

function readS3(settings: SettingsReader): S3Config | null {
  const name = settings.text("S3_BUCKET");
  const forcePathStyle = settings.flag("S3_FORCE_PATH_STYLE");
  if (name === null) {
    for (const setting of BUCKET_SETTINGS) {
      if (settings.isGiven(setting)) {
        settings.refuse(setting, "…", "it requires S3_BUCKET");
      }
    }
    return null;
  }
  if (!NAME.test(name)) settings.refuse("S3_BUCKET", name, "it must be the name of a bucket");
  if (settings.isGiven("S3_PUBLIC_ENDPOINT") && !settings.isGiven("S3_ENDPOINT")) {
    settings.refuse(
      "S3_PUBLIC_ENDPOINT",
      settings.text("S3_PUBLIC_ENDPOINT") ?? "",
      "it is another address of the server that S3_ENDPOINT does not name",
    );
  }
  return {
    name,
    region: settings.text("S3_REGION") ?? "",
    endpoint: readEndpoint(settings, "S3_ENDPOINT"),
    publicEndpoint: readEndpoint(settings, "S3_PUBLIC_ENDPOINT"),
    forcePathStyle,
    credentials: readCredentials(settings),
    prefix: readPrefix(settings),
  };
}

function readEndpoint(settings: SettingsReader, name: SettingName): string | null {
  const address = settings.url(name, ["http:", "https:"]);
  if (address === null) return null;
  const { origin, pathname, search, username, password } = new URL(address);
  if (pathname !== "/" || search || username || password) {
    settings.refuse(name, address, "it must be an address alone, without path or key");
  }
  return origin;
}

function readCredentials(settings: SettingsReader): S3Config["credentials"] {
  const accessKeyId = settings.text("S3_ACCESS_KEY_ID");
  const secretAccessKey = settings.text("S3_SECRET_ACCESS_KEY");
  if (accessKeyId !== null && secretAccessKey !== null) return { accessKeyId, secretAccessKey };
  if (accessKeyId !== null) {
    settings.refuse("S3_ACCESS_KEY_ID", "…", "it requires S3_SECRET_ACCESS_KEY");
  }
  if (secretAccessKey !== null) {
    settings.refuse("S3_SECRET_ACCESS_KEY", "…", "it requires S3_ACCESS_KEY_ID");
  }
  return null;
}

/** Returns a prefix that is empty or ends with a slash. */
function readPrefix(settings: SettingsReader): string {
  const given = settings.text("S3_PREFIX") ?? "";
  const prefix = given === "" || given.endsWith("/") ? given : `${given}/`;
  if (!PREFIX.test(prefix) || prefix.length > MAX_PREFIX) {
    settings.refuse("S3_PREFIX", given, "it must be made of A-Z, a-z, 0-9, _, ., - and /");
  }
  return prefix;
}
