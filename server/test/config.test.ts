import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError, readConfig } from "../src/config.ts";

const root = join(import.meta.dirname, "../..");
const example = readFileSync(join(root, ".env.example"), "utf8");
const settings = [...example.matchAll(/^#([A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => ({
  name,
  value,
}));

function readNames(): string[] {
  const names = new Set<string>();
  readConfig(
    new Proxy({} as Record<string, string>, {
      get(_target, name) {
        names.add(String(name));
        return undefined;
      },
    }),
  );
  return [...names].sort();
}

describe(".env.example", () => {
  test("has every setting that is read, once, and no other", () => {
    expect(settings.map(({ name }) => name).sort()).toEqual(readNames());
  });

  test("changes nothing as it stands", () => {
    const defaults = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
    expect(readConfig(defaults)).toEqual(readConfig({}));
  });

  test("explains each setting", () => {
    const unexplained = example
      .split(/\n\n/)
      .filter((block) => /^#[A-Z0-9_]+=/m.test(block) && !/^# [A-Za-z]/m.test(block));
    expect(unexplained).toEqual([]);
  });
});

test("only the entry of the command line reads the environment", () => {
  const source = join(root, "server/src");
  const readers = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => readFileSync(join(source, name), "utf8").includes("process.env"));
  expect(readers).toEqual(["cli.ts"]);
});

describe("a setting that can not be used", () => {
  const wrong: [string, string][] = [
    ["PORT", "80a"],
    ["PORT", "70000"],
    ["TRUST_PROXY", "yes"],
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
    test(`is named together with what would do: ${name}=${value}`, () => {
      expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
      expect(() => readConfig({ [name]: value })).toThrow(`${name}=${value} can not be used: `);
    });
  }

  test("is told alone where others beside it would do", () => {
    expect(() => readConfig({ WEBHOOK_ALLOW_NETWORKS: "10.0.0.0/8, fd00::/129" })).toThrow(
      "WEBHOOK_ALLOW_NETWORKS=fd00::/129 can not be used",
    );
    const { webhookAllowNetworks } = readConfig({ WEBHOOK_ALLOW_NETWORKS: " 10.0.0.0/8,fd00::/8 ::1/128" });
    expect(webhookAllowNetworks).toEqual(["10.0.0.0/8", "fd00::/8", "::1/128"]);
  });

  test.each(["mysql://subtext:hunter2@db/subtext", "mysql://u:hunt/er2@db/x", "mysql://u:hunt@er2@db/x"])(
    "is told without the password that it holds: %s",
    (url) => {
      expect(() => readConfig({ DATABASE_URL: url })).toThrow(
        /^DATABASE_URL=mysql:\/\/…@db\/\w+ can not be used/,
      );
    },
  );
});

describe("servers that transcribe", () => {
  test("get the one key, or each its own", () => {
    const SPEECH_SERVERS = "http://gpu1:8000/v1, http://gpu2:8000/v1";
    const keysOf = (keys: string) =>
      readConfig({ SPEECH_SERVERS, SPEECH_SERVER_KEYS: keys }).speechServers?.servers.map(
        ({ apiKey }) => apiKey,
      );
    expect(keysOf("")).toEqual([null, null]);
    expect(keysOf("one")).toEqual(["one", "one"]);
    expect(keysOf("one,two")).toEqual(["one", "two"]);
    expect(() => keysOf("one,two,three")).toThrow("SPEECH_SERVER_KEYS=… can not be used");
  });
});

describe("the public URL", () => {
  test("is where the service listens unless told otherwise", () => {
    expect(readConfig({ PORT: "9000" }).publicUrl).toBe("http://127.0.0.1:9000");
    expect(readConfig({ HOST: "::1" }).publicUrl).toBe("http://[::1]:8080");
    expect(readConfig({ HOST: "0.0.0.0" }).publicUrl).toBe("http://127.0.0.1:8080");
  });

  test("ends without a slash", () => {
    expect(readConfig({ PUBLIC_URL: "https://a.example/" }).publicUrl).toBe("https://a.example");
  });

  test("has no path: addresses in answers are counted from the root", () => {
    expect(() => readConfig({ PUBLIC_URL: "https://a.example/subtext" })).toThrow("PUBLIC_URL=");
  });
});

describe("a bucket", () => {
  test("is what its settings say, with a prefix that ends with a slash", () => {
    expect(readConfig({}).bucket).toBeNull();
    expect(readConfig({ S3_BUCKET: "captions", S3_PREFIX: "a/b" }).bucket).toEqual({
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
    [{ S3_ENDPOINT: "http://localhost:9000" }, "S3_ENDPOINT=… can not be used"],
    [{ S3_BUCKET: "captions", S3_ACCESS_KEY_ID: "id" }, "S3_ACCESS_KEY_ID=… can not be used"],
    [{ S3_BUCKET: "captions", S3_SECRET_ACCESS_KEY: "hush" }, "S3_SECRET_ACCESS_KEY=… can not be used"],
    [
      { S3_BUCKET: "captions", S3_ENDPOINT: "http://id:hush@host" },
      "S3_ENDPOINT=http://…@host can not be used",
    ],
    [
      { S3_BUCKET: "captions", S3_ENDPOINT: "http://host/path" },
      "S3_ENDPOINT=http://host/path can not be used",
    ],
    [{ S3_BUCKET: "captions", S3_PREFIX: "/a" }, "S3_PREFIX=/a can not be used"],
  ])("that is told of in half is refused without its secret: %j", (env, message) => {
    expect(() => readConfig(env)).toThrow(message);
    expect(() => readConfig(env)).not.toThrow("hush");
  });
});

describe("a role", () => {
  const DATABASE_URL = "postgres://db/subtext";
  test("of one among several needs a database and files that all can reach", () => {
    expect(() => readConfig({ ROLE: "worker" })).toThrow(/^ROLE=worker can not be used: .*DATABASE_URL/);
    expect(() => readConfig({ ROLE: "api", DATABASE_URL })).toThrow(/^ROLE=api can not be used: .*S3_BUCKET/);
    expect(readConfig({ ROLE: "api", DATABASE_URL, S3_BUCKET: "captions" }).role).toBe("api");
    expect(readConfig({}).role).toBe("all");
  });
});

describe("traces", () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector:4318/";

  test("are off where no collector is named, whatever else is said of them", () => {
    expect(readConfig({ OTEL_SERVICE_NAME: "other", OTEL_TRACES_SAMPLER_ARG: "none" }).traces).toBeNull();
  });

  test("are read by OpenTelemetry's own names", () => {
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
  ])("are refused with a reason: %o", (wrong) => {
    expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...wrong })).toThrow(ConfigError);
  });
});

test("a metrics token that could be guessed is refused, and not repeated", () => {
  expect(() => readConfig({ METRICS_TOKEN: "short" })).toThrow(/^METRICS_TOKEN=… can not be used/);
  expect(readConfig({ METRICS_TOKEN: "0123456789abcdef" }).metricsToken).toBe("0123456789abcdef");
});
