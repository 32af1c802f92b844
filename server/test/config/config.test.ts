import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { SETTING_NAMES, SETTINGS } from "../../src/config/settings.ts";

const root = join(import.meta.dirname, "../../..");
const example = readFileSync(join(root, ".env.example"), "utf8");
const settings = [...example.matchAll(/^#([A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => ({
  name,
  value,
}));

const withoutSettings = (env: Record<string, string>) => ({ ...readConfig(env), settings: [] });

describe(".env.example", () => {
  test("changes nothing if used unchanged", () => {
    const defaults = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
    expect(withoutSettings(defaults)).toEqual(withoutSettings({}));
  });
});

test("the examples of the settings are valid and differ from the defaults", () => {
  const { ENGINE, ...others } = Object.fromEntries(
    SETTING_NAMES.map((name) => [name, SETTINGS[name].example]),
  );
  // Read separately, because the example of ENGINE conflicts with SPEECH_SERVERS.
  for (const env of [others, { ENGINE }]) {
    const { settings: read } = readConfig(env);
    const given = read.filter(({ from }) => from === "environment").map(({ name }) => name);
    expect(given.sort()).toEqual(Object.keys(env).sort());
  }
  expect(SETTING_NAMES.filter((name) => SETTINGS[name].example === SETTINGS[name].default)).toEqual([]);
});

test("every setting is read", () => {
  const readers = globSync(
    ["server/src/config/*.ts", "server/src/storage/*/definition.ts", "speech/src/engines/*/definition.ts"],
    { cwd: root, exclude: ["server/src/config/settings.ts"] },
  );
  const code = readers.map((path) => readFileSync(join(root, path), "utf8")).join();
  // Settings are read one by one or in a list. An unknown name would not compile.
  expect(SETTING_NAMES.filter((name) => !code.includes(`"${name}"`))).toEqual([]);
});

test("only the entry of the command line reads the environment", () => {
  const source = join(root, "server/src");
  const readers = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => readFileSync(join(source, name), "utf8").includes("process.env"));
  expect(readers).toEqual(["cli.ts"]);
});

describe("an invalid setting", () => {
  const wrong: [string, string][] = [
    ["PORT", "80a"],
    ["PORT", "70000"],
    ["TRUST_PROXY", "yes"],
    ["TRUST_PROXY", "0"],
    ["TRUST_PROXY", "10.1"],
    ["TRUST_PROXY", "10.0.0.0/33"],
    ["PUBLIC_URL", "captions.example.com"],
    ["PUBLIC_URL", "ftp://captions.example.com"],
    ["DATABASE_URL", "mysql://localhost/subtext"],
    ["ENGINE", "parrot"],
    ["ROLE", "manager"],
    ["S3_BUCKET", "Not A Bucket"],
    ["ENGINE", "openai"],
    ["SPEECH_SERVERS", "gpu1:8000"],
    ["WHISPER_MODEL", "whisper-enormous"],
    ["WHISPER_MODEL", "../models/mine"],
    ["MODEL_DOWNLOAD", "yes"],
    ["MODEL_HUB_URL", "ftp://mirror"],
    ["SPEECH_PROCESSES", "0"],
    ["MAX_UPLOAD_BYTES", "10 GiB"],
    ["LOG_LEVEL", "loud"],
    ["WEBHOOK_ALLOW_NETWORKS", "localhost"],
  ];
  for (const [name, value] of wrong) {
    test(`is reported with its value: ${name}=${value}`, () => {
      expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
      expect(() => readConfig({ [name]: value })).toThrow(`${name}=${value} is invalid: `);
    });
  }

  test("is reported without the valid values in its list", () => {
    expect(() => readConfig({ WEBHOOK_ALLOW_NETWORKS: "10.0.0.0/8, fd00::/129" })).toThrow(
      "WEBHOOK_ALLOW_NETWORKS=fd00::/129 is invalid",
    );
    const { webhookAllowNetworks } = readConfig({ WEBHOOK_ALLOW_NETWORKS: " 10.0.0.0/8,fd00::/8 ::1/128" });
    expect(webhookAllowNetworks).toEqual(["10.0.0.0/8", "fd00::/8", "::1/128"]);
  });

  test.each(["mysql://subtext:hunter2@db/subtext", "mysql://u:hunt/er2@db/x", "mysql://u:hunt@er2@db/x"])(
    "is reported without its password: %s",
    (url) => {
      expect(() => readConfig({ DATABASE_URL: url })).toThrow(/^DATABASE_URL=mysql:\/\/…@db\/\w+ is invalid/);
    },
  );
});

test.each(["OTEL_EXPORTER_OTLP_ENDPOINT", "SPEECH_SERVERS", "MODEL_HUB_URL"])(
  "%s rejects a password, because requests with a password are not sent and the doctor shows the URL",
  (name) => {
    expect(() => readConfig({ [name]: "https://me:hunter2@elsewhere.example/v1" })).toThrow(
      new RegExp(`^${name}=https://…@elsewhere.example/v1 is invalid`),
    );
  },
);

describe("speech servers", () => {
  test("share one key or have one each", () => {
    const SPEECH_SERVERS = "http://gpu1:8000/v1, http://gpu2:8000/v1";
    const keysOf = (keys: string) =>
      readConfig({ SPEECH_SERVERS, SPEECH_SERVER_KEYS: keys }).configuredEngines.flatMap((spec) =>
        spec.kind === "openai" ? spec.servers.map(({ apiKey }) => apiKey) : [],
      );
    expect(keysOf("")).toEqual([null, null]);
    expect(keysOf("one")).toEqual(["one", "one"]);
    expect(keysOf("one,two")).toEqual(["one", "two"]);
    expect(() => keysOf("one,two,three")).toThrow("SPEECH_SERVER_KEYS=… is invalid");
  });
});

describe("the public URL", () => {
  test("is the address that the service listens on by default", () => {
    expect(readConfig({ PORT: "9000" }).publicUrl).toBe("http://127.0.0.1:9000");
    expect(readConfig({ HOST: "::1" }).publicUrl).toBe("http://[::1]:8080");
    expect(readConfig({ HOST: "0.0.0.0" }).publicUrl).toBe("http://127.0.0.1:8080");
  });

  test("is normalized to end without a slash", () => {
    expect(readConfig({ PUBLIC_URL: "https://a.example/" }).publicUrl).toBe("https://a.example");
  });

  test("must not have a path, because paths in responses start at the root", () => {
    expect(() => readConfig({ PUBLIC_URL: "https://a.example/subtext" })).toThrow("PUBLIC_URL=");
  });
});

describe("a bucket", () => {
  test("has the configured settings, with a prefix that ends with a slash", () => {
    expect(readConfig({}).bucket).toBeNull();
    expect(readConfig({ S3_BUCKET: "captions", S3_PREFIX: "a/b" }).bucket).toEqual({
      kind: "s3",
      name: "captions",
      region: "us-east-1",
      endpoint: null,
      publicEndpoint: null,
      forcePathStyle: false,
      credentials: null,
      prefix: "a/b/",
    });
  });

  test.each([
    [{ S3_ENDPOINT: "http://localhost:9000" }, "S3_ENDPOINT=… is invalid"],
    [{ S3_BUCKET: "captions", S3_ACCESS_KEY_ID: "id" }, "S3_ACCESS_KEY_ID=… is invalid"],
    [{ S3_BUCKET: "captions", S3_SECRET_ACCESS_KEY: "hush" }, "S3_SECRET_ACCESS_KEY=… is invalid"],
    [{ S3_BUCKET: "captions", S3_ENDPOINT: "http://id:hush@host" }, "S3_ENDPOINT=http://…@host is invalid"],
    [{ S3_BUCKET: "captions", S3_ENDPOINT: "http://host/path" }, "S3_ENDPOINT=http://host/path is invalid"],
    [{ S3_BUCKET: "captions", S3_PREFIX: "/a" }, "S3_PREFIX=/a is invalid: it must be a path such as a/b/"],
  ])("with incomplete settings is rejected without showing its secret: %j", (env, message) => {
    expect(() => readConfig(env)).toThrow(message);
    expect(() => readConfig(env)).not.toThrow("hush");
  });
});

describe("a role", () => {
  const DATABASE_URL = "postgres://db/subtext";
  test("of a separate process requires a shared database and shared files", () => {
    expect(() => readConfig({ ROLE: "worker" })).toThrow(/ROLE=worker is invalid: .*DATABASE_URL/);
    expect(() => readConfig({ ROLE: "api", DATABASE_URL })).toThrow(/^ROLE=api is invalid: .*S3_BUCKET/);
    expect(readConfig({ ROLE: "api", DATABASE_URL, S3_BUCKET: "captions" }).role).toBe("api");
    expect(readConfig({}).role).toBe("all");
  });
});

describe("traces", () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector:4318/";

  test("are off without a collector, regardless of other settings", () => {
    expect(readConfig({ OTEL_SERVICE_NAME: "other", OTEL_TRACES_SAMPLER_ARG: "none" }).traces).toBeNull();
  });

  test("are configured by OpenTelemetry's own names", () => {
    const OTEL_EXPORTER_OTLP_HEADERS = "authorization=Bearer%20abc, x-tenant = 7";
    const { traces } = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS,
      OTEL_TRACES_SAMPLER_ARG: "0.1",
    });
    expect(traces).toEqual({
      endpoint: "http://collector:4318",
      headers: { authorization: "Bearer abc", "x-tenant": "7" },
      serviceName: "subtext",
      sampledRatio: 0.1,
    });
  });

  test.each([
    { OTEL_TRACES_SAMPLER_ARG: "2" },
    { OTEL_EXPORTER_OTLP_HEADERS: "secret" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector/?token=secret" },
  ])("are rejected with a reason: %o", (wrong) => {
    expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...wrong })).toThrow(ConfigError);
  });
});

test("a metrics token that is easy to guess is rejected and not shown", () => {
  expect(() => readConfig({ METRICS_TOKEN: "short" })).toThrow(/^METRICS_TOKEN=… is invalid/);
  expect(readConfig({ METRICS_TOKEN: "0123456789abcdef" }).metricsToken).toBe("0123456789abcdef");
});

describe("invalid settings", () => {
  test("are reported together, each with its name and without secrets", () => {
    const env = {
      PORT: "eighty",
      TRUST_PROXY: "yes",
      ROLE: "worker",
      DATABASE_URL: "mysql://me:hunter2@db/subtext",
      METRICS_TOKEN: "hunter2",
      LOG_LEVELL: "debug",
    };
    const faultsOf = () => {
      try {
        readConfig(env);
        return [];
      } catch (error) {
        return (error as ConfigError).faults.map(({ name }) => name);
      }
    };
    expect(faultsOf()).toEqual([
      "LOG_LEVELL",
      "PORT",
      "ROLE",
      "TRUST_PROXY",
      "DATABASE_URL",
      "METRICS_TOKEN",
    ]);
    expect(() => readConfig(env)).toThrow(/^6 settings are invalid:\n {2}LOG_LEVELL=/);
    expect(() => readConfig(env)).not.toThrow("hunter2");
  });

  test.each([
    [{ SPEECH_SERVER_KEYS: "hunter2" }, "SPEECH_SERVER_KEYS=… is invalid: it requires SPEECH_SERVERS"],
    [{ SPEECH_SERVER_MODEL: "large" }, "SPEECH_SERVER_MODEL=large is invalid: it requires SPEECH_SERVERS"],
    [
      { ENGINE: "whisper", SPEECH_SERVERS: "http://gpu/v1" },
      "ENGINE=whisper is invalid: SPEECH_SERVERS is set",
    ],
    [{ S3_REGION: "eu-west-1" }, "S3_REGION=… is invalid: it requires S3_BUCKET"],
    [
      { S3_BUCKET: "captions", S3_PUBLIC_ENDPOINT: "https://s3.example" },
      "S3_PUBLIC_ENDPOINT=https://s3.example is invalid: it requires S3_ENDPOINT",
    ],
  ])("include contradictions: %j", (env, message) => {
    expect(() => readConfig(env)).toThrow(message);
    expect(() => readConfig(env)).not.toThrow("hunter2");
  });
});

describe("an unknown name", () => {
  test.each([
    ["DATABASE_URI", "DATABASE_URL"],
    ["DATBASE_URL", "DATABASE_URL"],
    ["DATABASE_URL_FILES", "DATABASE_URL_FILE"],
    ["WEBHOOK_ALLOW_HTPP", "WEBHOOK_ALLOW_HTTP"],
    ["database-url", "DATABASE_URL"],
    ["DATADIR", "DATA_DIR"],
    ["SUBTEXT_PORT", "PORT"],
    ["SUBTEXT_DATABASE_URL_FILE", "DATABASE_URL_FILE"],
  ])("is rejected with the most similar setting: %s", (name, meant) => {
    expect(() => readConfig({ [name]: "value" })).toThrow(
      `${name}=… is invalid: there is no such setting; the most similar one is ${meant}.`,
    );
  });

  test.each([
    ["of another program", { HOME: "/root", POST: "1", HOSTS: "a", ROLES: "x", PORTS: "1", TZ: "UTC" }],
    ["of OpenTelemetry, AWS and PostgreSQL", { OTEL_TRACES_SAMPLER: "x", AWS_REGION: "x", PGDATABASE: "x" }],
    [
      "that Kubernetes sets for a Service",
      {
        SUBTEXT_PORT: "tcp://10.0.0.1:8080",
        SUBTEXT_SERVICE_HOST: "10.0.0.1",
        SUBTEXT_PORT_80_TCP_PROTO: "tcp",
      },
    ],
    ["next to the similar setting", { LOG_LEVEL: "info", LOGLEVEL: "verbose" }],
    ["without a value", { DATABASE_URI: "" }],
    ["of a test run", { TEST_DATABASE_URL: "postgres://x", TEST_S3: "{}" }],
  ])("is ignored: one %s", (_what, env) => {
    expect(withoutSettings({ ...env })).toEqual(withoutSettings({}));
  });

  test("is rejected in a settings file, except for names that other programs read from there", () => {
    const read = (values: Record<string, string>) => readConfig(values, { path: ".env", values });
    expect(() => read({ MAX_VIDEOS: "7", PORT: "9000" })).toThrow(
      "MAX_VIDEOS=… is invalid: there is no such setting, and .env may contain only settings of Subtext.",
    );
    const others = {
      AWS_REGION: "x",
      HTTPS_PROXY: "http://proxy",
      NODE_USE_ENV_PROXY: "1",
      PGSSLMODE: "require",
    };
    expect(read({ ...others, PORT: "9000" }).port).toBe(9000);
    expect(() => readConfig({ MAX_VIDEOS: "7" })).not.toThrow();
  });

  test("never cause an error other than ConfigError", () => {
    const name = fc.oneof(
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.tuple(fc.constantFrom(...SETTING_NAMES), fc.string({ maxLength: 2 })).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ maxLength: 30 })), (env) => {
        try {
          readConfig(env, { path: ".env", values: env });
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
    );
  });
});

describe("a secret in a file", () => {
  function secretFile(text: string): string {
    const folder = mkdtempSync(join(tmpdir(), "subtext-secret-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "secret");
    writeFileSync(path, text);
    return path;
  }

  const values: Record<string, string> = {
    DATABASE_URL: "postgres://subtext:hunter2@db/subtext",
    S3_ACCESS_KEY_ID: "hunter2-id",
    S3_SECRET_ACCESS_KEY: "hunter2-key",
    MODEL_HUB_TOKEN: "hunter2-token",
    SPEECH_SERVER_KEYS: "hunter2-a",
    METRICS_TOKEN: "hunter2-0123456789",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=hunter2",
  };
  const around = {
    S3_BUCKET: "captions",
    SPEECH_SERVERS: "http://gpu/v1",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
  };

  test("has the same value as in the variable, with any line ending, and is never shown", () => {
    const secrets = SETTING_NAMES.filter((name) => "secret" in SETTINGS[name]);
    expect(Object.keys(values).sort()).toEqual([...secrets].sort());
    for (const end of ["", "\n", "\r\n"]) {
      const files = Object.entries(values).map(([name, value]) => [`${name}_FILE`, secretFile(value + end)]);
      const config = readConfig({ ...around, ...Object.fromEntries(files) });
      expect({ ...config, settings: [] }).toEqual(withoutSettings({ ...around, ...values }));
      expect(JSON.stringify(config.settings)).not.toContain("hunter2");
    }
    expect(JSON.stringify(readConfig({ ...around, ...values }).settings)).not.toContain("hunter2");
  });

  test("is rejected if the variable is set too", () => {
    const env = { METRICS_TOKEN: "0123456789abcdef", METRICS_TOKEN_FILE: secretFile("0123456789abcdef") };
    expect(() => readConfig(env)).toThrow("METRICS_TOKEN=… is invalid: METRICS_TOKEN_FILE is also set");
    const database = { DATABASE_URL: "postgres://db/subtext", DATABASE_URL_FILE: secretFile("x") };
    expect(() => readConfig({ ROLE: "api", S3_BUCKET: "captions", ...database })).toThrow(
      /^DATABASE_URL=.*only one of them\.$/,
    );
  });

  test("that is missing or empty is reported by its path, without follow-up errors", () => {
    const around = { ROLE: "api", S3_BUCKET: "captions" };
    expect(() => readConfig({ ...around, DATABASE_URL_FILE: "/nowhere/secret" })).toThrow(
      /^DATABASE_URL_FILE=\/nowhere\/secret is invalid: the file cannot be read \(ENOENT\)\.$/,
    );
    expect(() => readConfig({ DATABASE_URL_FILE: secretFile("\n") })).toThrow("the file is empty");
  });
});

test("settings are listed with their sources, without the passwords in URLs", () => {
  const values = { PORT: "9000", SPEECH_SERVERS: "http://gpu/v1" };
  const { settings: listed } = readConfig(
    { ...values, LOG_LEVEL: "warn", DATABASE_URL: "postgres://me:hunter2@db/x?password=hunter2" },
    { path: ".env", values },
  );
  const find = (name: string) => listed.find((setting) => setting.name === name);
  expect(listed.map(({ name }) => name)).toEqual(SETTING_NAMES);
  expect(find("PORT")).toEqual({ name: "PORT", value: "9000", from: ".env" });
  expect(find("LOG_LEVEL")).toEqual({ name: "LOG_LEVEL", value: "warn", from: "environment" });
  expect(find("HOST")).toEqual({ name: "HOST", value: "127.0.0.1", from: "default" });
  expect(find("S3_BUCKET")).toEqual({ name: "S3_BUCKET", value: null, from: "default" });
  expect(find("DATABASE_URL")?.value).toBe("postgres://…@db/x");
  expect(JSON.stringify(listed)).not.toContain("hunter2");
});
