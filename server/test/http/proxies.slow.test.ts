import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import * as tus from "tus-js-client";
import { expect, onTestFinished, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";
import { setUp } from "../admin/operator-requests.ts";
import { freePort } from "../support/free-port.ts";
import {
  createTenant,
  startService,
  type TestService,
  temporaryFolder,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";

const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");
const RECORDING_BYTES = 2 * 1024 ** 3;

const documented = blocksRunBy(import.meta.filename);

interface Place {
  /** The folder to which the proxy writes. Contains its certificate, `cert.pem` and `key.pem`. */
  folder: string;
  port: number;
  /** Host and port of the service. */
  service: string;
}

interface Proxy {
  name: string;
  language: string;
  start(block: string, place: Place): Promise<ChildProcess>;
}

const nginx: Proxy = {
  name: "nginx",
  language: "nginx",
  async start(block, { folder, port, service }) {
    await mkdir(join(folder, "logs"));
    const server = block
      .replace("listen 443", `listen 127.0.0.1:${port}`)
      .replace("captions.example.com;", "localhost;")
      .replace(/\/\S+\/fullchain.pem/, join(folder, "cert.pem"))
      .replace(/\/\S+\/privkey.pem/, join(folder, "key.pem"))
      .replace("127.0.0.1:8080", service);
    const config = `
daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  ${server}
}`;
    await writeFile(join(folder, "nginx.conf"), config);
    return spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  },
};

const caddy: Proxy = {
  name: "Caddy",
  language: "caddy",
  async start(block, { folder, port, service }) {
    const tls = `tls ${folder}/cert.pem ${folder}/key.pem`;
    const site = block
      .replace("captions.example.com {", `https://localhost:${port} {\n  bind 127.0.0.1\n  ${tls}`)
      .replace("127.0.0.1:8080", service);
    // Without this option, it redirects from the HTTP port.
    const options = "{\n  admin off\n  auto_https disable_redirects\n}\n";
    await writeFile(join(folder, "Caddyfile"), options + site);
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const args = ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
    return spawn("caddy", args, { stdio: "ignore", env });
  },
};

function isInstalled(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

interface Proxied {
  subtext: TestService;
  /** Restarts the service on the same port and data. */
  restart(): Promise<TestService>;
}

/** Starts the service behind the proxy with its documented configuration and a self-signed certificate. */
async function startBehind(proxy: Proxy): Promise<Proxied> {
  const folder = await temporaryFolder();
  const certificate = join(folder, "cert.pem");
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "1"],
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
      ...["-keyout", join(folder, "key.pem"), "-out", certificate],
    ],
    { stdio: "ignore" },
  );
  setDefaultCACertificates([...getCACertificates("default"), await readFile(certificate, "utf8")]);

  const [port, servicePort] = [await freePort(), await freePort()];
  const options = {
    dataFolder: await temporaryFolder(),
    port: servicePort,
    env: { TRUST_PROXY: "1", PUBLIC_URL: `https://localhost:${port}` },
  };
  const subtext = await startService(options);
  const block = documented.find(({ language }) => language === proxy.language);
  const running = await proxy.start(block!.text, { folder, port, service: `127.0.0.1:${servicePort}` });
  const closed = once(running, "close");
  onTestFinished(async () => {
    running.kill("SIGKILL");
    await closed;
  });
  await until(() => accepts(port));
  const restart = async () => {
    await subtext.service.stop();
    return await startService(options);
  };
  return { subtext, restart };
}

async function signIn({ url }: TestService, credentials: object, headers: Record<string, string> = {}) {
  return await fetch(`${url}/internal/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url, ...headers },
    body: JSON.stringify(credentials),
  });
}

/** Reads server-sent events until one contains the text. */
async function untilEvent({ body }: Response, wanted: string): Promise<void> {
  let received = "";
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    received += chunk;
    if (received.includes(wanted)) return;
  }
  throw new Error(`the stream ended without ${wanted}: ${received}`);
}

/** Creates a sparse file with data only at the start, the end and some places in between. */
async function writeSparseFile(): Promise<{ path: string; marks: { at: number; mark: string }[] }> {
  const path = join(await temporaryFolder(), "recording.mp4");
  const marks = [0, 0.3, 0.5, 0.7, 1].map((share) => {
    const mark = `at ${share}`;
    return { at: Math.floor(share * (RECORDING_BYTES - mark.length)), mark };
  });
  const file = await open(path, "w");
  for (const { at, mark } of marks) await file.write(mark, at);
  await file.close();
  return { path, marks };
}

for (const proxy of [nginx, caddy]) {
  const programs = [proxy.name.toLowerCase(), "openssl"];
  const missing = programs.filter((program) => !isInstalled(program));
  const skipped = `(skipped without ${programs.join(" and ")}: apt-get install ${programs.join(" ")})`;

  test.skipIf(missing.length > 0)(
    `behind ${proxy.name} as documented, a client cannot choose its address ${skipped}`,
    async () => {
      const { subtext } = await startBehind(proxy);
      const attempt = async (n: number) => {
        const credentials = { email: `nobody.${n}@subtext.example`, password: "not-the-password-at-all" };
        const response = await signIn(subtext, credentials, {
          "x-forwarded-for": `203.0.113.${n}, 203.0.113.${n + 1}`,
          forwarded: `for=203.0.113.${n}`,
          "x-real-ip": `203.0.113.${n}`,
        });
        return response.status;
      };
      for (let n = 0; n < 5; n++) expect(await attempt(n)).toBe(401);
      expect(await attempt(5)).toBe(429);
      const entries = await subtext.service.parts.database.kysely
        .selectFrom("audit_event")
        .select(["action", "address"])
        .execute();
      expect(entries).toEqual(
        Array.from({ length: 5 }, () => ({ action: "operator.sign_in_failed", address: "127.0.0.1" })),
      );
    },
  );

  test.skipIf(missing.length > 0)(
    `behind ${proxy.name} as documented, operators sign in and see changes live, and file URLs work ${skipped}`,
    async () => {
      const { subtext } = await startBehind(proxy);
      const { url } = subtext;
      const session = await signIn(subtext, await setUp(subtext));
      const [setCookie = ""] = session.headers.getSetCookie();
      expect(session.status).toBe(200);
      expect(setCookie).toContain("Secure");

      const tenant = await createTenant(subtext);
      const changes = await fetch(`${url}/internal/environments/${tenant.environmentId}/videos/changes`, {
        headers: { cookie: setCookie.split(";")[0]! },
      });
      const videoId = await upload(subtext, tenant, await readFile(SAMPLE));
      await untilEvent(changes, videoId);

      const { status, files } = await untilEnded(subtext, tenant, videoId);
      expect(status).toBe("COMPLETED");
      expect(files?.vtt.url).toMatch(new RegExp(`^${url}/`));
      const file = await fetch(files!.vtt.url);
      expect([file.status, (await file.text()).slice(0, 6)]).toEqual([200, "WEBVTT"]);
    },
  );

  test.skipIf(missing.length > 0)(
    `behind ${proxy.name} as documented, tus-js-client uploads 2 GB, even if the service restarts ${skipped}`,
    { timeout: 300_000 },
    async () => {
      const { subtext, restart } = await startBehind(proxy);
      const tenant = await createTenant(subtext, { aiTranscription: false });
      const { path, marks } = await writeSparseFile();
      let restarted: Promise<TestService> | undefined;
      const videoId = await new Promise<string>((resolve, reject) => {
        const running = new tus.Upload(createReadStream(path), {
          endpoint: `${subtext.url}/api/v1/uploads`,
          headers: { authorization: `Bearer ${tenant.key}`, "idempotency-key": "recording" },
          retryDelays: Array.from({ length: 60 }, () => 1000),
          onProgress(sent) {
            if (sent > RECORDING_BYTES / 2) restarted ??= restart();
          },
          onError: reject,
          onSuccess: () => resolve(running.url!.split("/").at(-1)!),
        });
        running.start();
      });
      const { database, recordings } = (await restarted!).service.parts;
      const videos = await database.kysely.selectFrom("video").select(["id", "size_bytes"]).execute();
      expect(videos).toEqual([{ id: videoId, size_bytes: RECORDING_BYTES }]);

      for (const { at, mark } of marks) {
        const stored = await recordings.openFile(videoId);
        expect(stored.size).toBe(RECORDING_BYTES);
        expect(await text(stored.stream({ start: at, end: at + mark.length - 1 }))).toBe(mark);
      }
    },
  );
}
