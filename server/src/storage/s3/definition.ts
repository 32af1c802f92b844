import { commandLine } from "../../lib/command-line.ts";
import type { SettingsSource } from "../../lib/setting.ts";
import type { BackendDefinition } from "../backend-definition.ts";
import type { S3Config } from "./client-config.ts";

const NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^([A-Za-z0-9_.-]+\/)*$/;
const MAX_PREFIX = 200;

export const s3 = {
  settings: {
    S3_BUCKET: {
      description:
        "The bucket of AWS S3 or a compatible server that stores recordings and transcripts instead of `DATA_DIR`; see [storage](storage.md).",
      value: "name",
      example: "captions",
      default: null,
    },
    S3_REGION: {
      description: "The AWS region of the bucket, or the region name of the server.",
      value: "name",
      example: "eu-west-1",
      default: "us-east-1",
    },
    S3_ENDPOINT: {
      description: "The URL of an S3 server other than AWS.",
      value: "URL without a path",
      example: "https://s3.example.com",
      default: null,
    },
    S3_PUBLIC_ENDPOINT: {
      description:
        "The URL at which clients reach the S3 server, if it differs from `S3_ENDPOINT`. File URLs begin with it.",
      value: "URL without a path",
      example: "https://files.example.com",
      default: null,
    },
    S3_FORCE_PATH_STYLE: {
      description:
        "`true` for `https://server/bucket/key`, which most servers other than AWS require, instead of `https://bucket.server/key`.",
      choices: ["true", "false"],
      example: "true",
      default: "false",
    },
    S3_ACCESS_KEY_ID: {
      description:
        "The access key of the bucket. If unset, AWS's credential chain is used: `AWS_…` variables, `~/.aws`, or an IAM role.",
      value: "text",
      example: "AKIAEXAMPLE",
      default: null,
      secret: true,
    },
    S3_SECRET_ACCESS_KEY: {
      description: "The secret access key for `S3_ACCESS_KEY_ID`.",
      value: "text",
      example: "wJalrEXAMPLE",
      default: null,
      secret: true,
    },
    S3_PREFIX: {
      description: "The prefix of every object key, for a bucket that other applications share.",
      value: "path",
      example: "captions/",
      default: null,
    },
  },
  enabledBy: "S3_BUCKET",
  settingsPattern: "S3_…",
  read: readS3,
  open: async (config, log) => (await import("./s3-object-store.ts")).openS3ObjectStore(config, log),
  createBucket: async (config) => await (await import("./s3-object-store.ts")).createS3Bucket(config),
  settingsByError: {
    InvalidAccessKeyId: "S3_ACCESS_KEY_ID: the key does not exist",
    SignatureDoesNotMatch: "S3_SECRET_ACCESS_KEY: the secret does not match S3_ACCESS_KEY_ID",
    AuthorizationHeaderMalformed: "S3_REGION: the bucket is in another region",
    RequestTimeTooSkewed: "The clock of this machine: it differs from the storage's by more than 15 minutes",
    CredentialsProviderError: "S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: no credentials were found",
    NoSuchBucket: `S3_BUCKET: the bucket does not exist; create it with \`${commandLine("storage create-bucket")}\``,
  },
} as const satisfies BackendDefinition<S3Config>;

function readS3(settings: SettingsSource, name: string): S3Config {
  const forcePathStyle = settings.flag("S3_FORCE_PATH_STYLE");
  if (!NAME.test(name)) settings.reportInvalid("S3_BUCKET", name, "it must be a valid bucket name");
  if (settings.differsFromDefault("S3_PUBLIC_ENDPOINT") && !settings.differsFromDefault("S3_ENDPOINT")) {
    settings.reportInvalid(
      "S3_PUBLIC_ENDPOINT",
      settings.text("S3_PUBLIC_ENDPOINT") ?? "",
      "it requires S3_ENDPOINT",
    );
  }
  return {
    kind: "s3",
    name,
    region: settings.text("S3_REGION") ?? "",
    endpoint: readEndpoint(settings, "S3_ENDPOINT"),
    publicEndpoint: readEndpoint(settings, "S3_PUBLIC_ENDPOINT"),
    forcePathStyle,
    credentials: readCredentials(settings),
    prefix: readPrefix(settings),
  };
}

function readEndpoint(settings: SettingsSource, name: string): string | null {
  const url = settings.url(name, ["http:", "https:"]);
  if (url === null) return null;
  const { origin, pathname, search, username, password } = new URL(url);
  if (pathname !== "/" || search || username || password) {
    settings.reportInvalid(name, url, "it must not contain a path, a query or credentials");
  }
  return origin;
}

function readCredentials(settings: SettingsSource): S3Config["credentials"] {
  const accessKeyId = settings.text("S3_ACCESS_KEY_ID");
  const secretAccessKey = settings.text("S3_SECRET_ACCESS_KEY");
  if (accessKeyId !== null && secretAccessKey !== null) return { accessKeyId, secretAccessKey };
  if (accessKeyId !== null) {
    settings.reportInvalid("S3_ACCESS_KEY_ID", "…", "it requires S3_SECRET_ACCESS_KEY");
  }
  if (secretAccessKey !== null) {
    settings.reportInvalid("S3_SECRET_ACCESS_KEY", "…", "it requires S3_ACCESS_KEY_ID");
  }
  return null;
}

/** Returns a prefix that is empty or ends with a slash. */
function readPrefix(settings: SettingsSource): string {
  const given = settings.text("S3_PREFIX") ?? "";
  const prefix = given === "" || given.endsWith("/") ? given : `${given}/`;
  if (!PREFIX.test(prefix) || prefix.length > MAX_PREFIX) {
    settings.reportInvalid(
      "S3_PREFIX",
      given,
      `it must be a path such as a/b/, with at most ${MAX_PREFIX} characters of A-Z, a-z, 0-9, _, ., - and /`,
    );
  }
  return prefix;
}
