import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";
import { freePort } from "../support/free-port.ts";
import { createTenant, startService, temporaryFolder, until, upload } from "../support/service.ts";

const documented = blocksRunBy(import.meta.filename);

/** Starts the proxy with its documented configuration, and returns its URL. */
type StartProxy = (block: string, ports: { listen: number; service: string }) => Promise<ChildProcess>;

const startNginx: StartProxy = async (block, { listen, service }) => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "logs"));
  const config = `
daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${listen}; ${block.replace("127.0.0.1:8080", service)} }
}`;
  await writeFile(join(folder, "nginx.conf"), config);
  return spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
};

const startCaddy: StartProxy = async (block, { listen, service }) => {
  const folder = await temporaryFolder();
  const site = block
    .replace("captions.example.com", `http://127.0.0.1:${listen}`)
    .replace("127.0.0.1:8080", service);
  await writeFile(join(folder, "Caddyfile"), `{\n  admin off\n}\n${site}`);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  return spawn("caddy", args, { stdio: "ignore", env });
};

const PROXIES = [
  { name: "nginx", language: "nginx", start: startNginx },
  { name: "Caddy", language: "caddy", start: startCaddy },
];

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

for (const { name, language, start } of PROXIES) {
  const program = name.toLowerCase();
  test.skipIf(!isInstalled(program))(
    `behind ${name} as documented, a client cannot choose its address, and uploads pass (skipped without ${program}: apt-get install ${program})`,
    async () => {
      const subtext = await startService({ start: false, env: { TRUST_PROXY: "1" } });
      const block = documented.find((each) => each.language === language);
      const listen = await freePort();
      const proxy = await start(block!.text, { listen, service: new URL(subtext.url).host });
      const ended = new Promise((resolve) => proxy.once("close", resolve));
      onTestFinished(async () => {
        proxy.kill("SIGKILL");
        await ended;
      });
      await until(() => accepts(listen));

      const url = `http://127.0.0.1:${listen}`;
      const attempt = async (n: number) => {
        const response = await fetch(`${url}/internal/auth/sign-in/email`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            origin: subtext.url,
            "x-forwarded-for": `203.0.113.${n}, 203.0.113.${n + 1}`,
            forwarded: `for=203.0.113.${n}`,
            "x-real-ip": `203.0.113.${n}`,
          },
          body: JSON.stringify({ email: `nobody.${n}@subtext.example`, password: "not-the-password-at-all" }),
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

      const tenant = await createTenant(subtext, { aiTranscription: false });
      // More than nginx accepts by default.
      const recording = Buffer.alloc(3 * 1024 ** 2, "x");
      const videoId = await upload({ ...subtext, url }, tenant, recording);
      const stored = await subtext.service.parts.recordings.inspect(videoId);
      expect(stored?.sizeBytes).toBe(recording.length);
    },
  );
}
