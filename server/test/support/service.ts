import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Permission } from "@subtext/client/contract/permission";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import type { Transcription } from "@subtext/client/contract/transcription";
import * as tus from "tus-js-client";
import { beforeAll, inject, onTestFinished } from "vitest";
import { createApiKey } from "../../src/api-keys/api-keys.ts";
import { readConfig } from "../../src/config/config.ts";
import { createEnvironment } from "../../src/environments/environments.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { openService, type Service, type ServiceOptions } from "../../src/main.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { ContractTap } from "./contract-tap.ts";
import { freePort } from "./free-port.ts";
import { bucketEnv, makeTestBucket, testS3 } from "./test-bucket.ts";
import { makeTestDatabase } from "./test-database.ts";

/** A running clock that tests can advance. */
export class MovableClock implements Clock {
  #offsetMs = 0;

  now(): Date {
    return new Date(Date.now() + this.#offsetMs);
  }

  advance(milliseconds: number): void {
    this.#offsetMs += milliseconds;
  }
}

export { freePort };

export interface TestService {
  service: Service;
  url: string;
  dataFolder: string;
  /** Checks every response against the contract when the service is stopped. */
  tap: ContractTap;
  /** The log, one JSON object per line. */
  logged(): string;
}

export interface StartOptions
  extends Pick<
    ServiceOptions,
    "purpose" | "uploadLockTimeoutMs" | "connectionLimits" | "resolve" | "dashboardFolder"
  > {
  dataFolder?: string;
  port?: number;
  clock?: Clock;
  env?: Record<string, string>;
  /** If false, the service serves requests but runs no jobs, so that transcriptions stay PENDING. */
  start?: boolean;
}

/** Starts the real service in a new folder and stops it when the test ends. */
export async function startService(options: StartOptions = {}): Promise<TestService> {
  const dataFolder = options.dataFolder ?? (await temporaryFolder());
  const service = await start({ ...options, dataFolder });
  onTestFinished(async () => {
    await service.service.stop();
    service.tap.verify();
  });
  return service;
}

/**
 * Starts one service for all tests of a file, which must use separate tenants. The returned properties are undefined
 * until the tests run.
 */
export function shareService(options: StartOptions = {}): TestService {
  const shared = {} as TestService;
  beforeAll(async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "subtext-test-"));
    Object.assign(shared, await start({ ...options, dataFolder }));
    return async () => {
      await shared.service.stop();
      await rm(dataFolder, { recursive: true, force: true });
      shared.tap.verify();
    };
  });
  return shared;
}

async function start(options: StartOptions & { dataFolder: string }): Promise<TestService> {
  const { dataFolder, env, port: wantedPort, start = true, ...serviceOptions } = options;
  const databaseUrl = await postgresFor(dataFolder);
  const isNew = (await readdir(dataFolder)).length === 0;
  if (isNew && databaseUrl === null) await cp(inject("templateDataFolder"), dataFolder, { recursive: true });
  const port = wantedPort ?? (await freePort());
  const config = readConfig({
    PORT: String(port),
    DATA_DIR: dataFolder,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    ...(await bucketFor(dataFolder)),
    // Tests that need a model configure its download.
    MODEL_DOWNLOAD: "off",
    WEBHOOK_ALLOW_HTTP: "true",
    WEBHOOK_ALLOW_NETWORKS: "127.0.0.1/32",
    ...env,
  });
  let logged = "";
  const log = createLog(config.logLevel, {
    write(line) {
      logged += line;
    },
  });
  const service = await openService({ ...serviceOptions, config, log });
  const tap = new ContractTap();
  tap.listen(service.parts.app.server);
  if (!start) await service.parts.app.listen({ port });
  else await service.start();
  return { service, url: config.publicUrl, dataFolder, tap, logged: () => logged };
}

/** Creates a database for the data folder. Returns null unless the suite runs on PostgreSQL. */
export async function postgresFor(dataFolder: string): Promise<string | null> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) return null;
  return await makeTestDatabase(server, basename(dataFolder).toLowerCase().replaceAll("-", "_"));
}

/** Creates a bucket for the data folder and returns its settings. Returns no settings unless the suite runs on S3. */
export async function bucketFor(dataFolder: string): Promise<Record<string, string>> {
  const s3 = testS3();
  if (!s3) return {};
  const name = basename(dataFolder).toLowerCase().replaceAll("_", "-");
  await makeTestBucket(s3, name);
  return bucketEnv(s3, name);
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Tenant {
  environmentId: string;
  key: string;
}

let tenants = 0;

export async function createTenant(
  { service }: TestService,
  options: { aiTranscription?: boolean; permissions?: readonly Permission[]; clock?: Clock } = {},
): Promise<Tenant> {
  const { aiTranscription = true, permissions = PERMISSIONS, clock = systemClock } = options;
  const deps = { db: service.parts.database.kysely, clock };
  tenants += 1;
  const { id } = await createEnvironment(deps, { name: `Tenant ${tenants}`, aiTranscription });
  const { key } = await createApiKey(deps, {
    environmentId: id,
    name: "test",
    permissions: [...permissions],
    expiresAt: null,
  });
  return { environmentId: id, key };
}

/** Uploads with tus-js-client. Returns the video's id. */
export async function upload(
  { url }: TestService,
  { key }: Tenant,
  file: Buffer,
  options: Partial<tus.UploadOptions> = {},
): Promise<string> {
  return await new Promise((resolve, reject) => {
    const running = new tus.Upload(file, {
      endpoint: `${url}/api/v1/uploads`,
      headers: { authorization: `Bearer ${key}` },
      retryDelays: [],
      onError: reject,
      onSuccess: () => resolve(running.url?.split("/").at(-1) ?? ""),
      ...options,
    });
    running.start();
  });
}

export async function readTranscription(
  { url }: TestService,
  { key }: Tenant,
  videoId: string,
): Promise<{ status: number; body: Transcription; headers: Headers }> {
  const response = await fetch(`${url}/api/v1/videos/${videoId}/transcription`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return {
    status: response.status,
    body: (await response.json()) as Transcription,
    headers: response.headers,
  };
}

export async function untilEnded(
  service: TestService,
  tenant: Tenant,
  videoId: string,
): Promise<Transcription> {
  for (;;) {
    const { body } = await readTranscription(service, tenant, videoId);
    if (body.status !== "PENDING" && body.status !== "PROCESSING") return body;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Polls until `find` returns a truthy value. */
export async function until<T>(find: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
