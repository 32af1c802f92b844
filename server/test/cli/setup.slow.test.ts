import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder, until } from "../support/service.ts";

const SUBTEXT = join(import.meta.dirname, "../../bin/subtext.js");
const PASSWORD = "a long password";

test.each(["beside a running service", "without one"])(
  "`setup` %s creates the owner and the first environment once, stores the engine, and does not print the password",
  async (where) => {
    const folder = await temporaryFolder();
    await cp(inject("templateDataFolder"), folder, { recursive: true });
    const port = String(await freePort());
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const options = {
      cwd: folder,
      // No hub answers there.
      env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: folder, PORT: port, MODEL_HUB_URL: "http://127.0.0.1:1" },
    };
    /** Runs a command with these lines as its standard input. */
    const run = (args: string[], input: string[] = []) =>
      new Promise<{ exitCode: number; out: string; err: string }>((resolve) => {
        const child = execFile(process.execPath, [SUBTEXT, ...args], options, (error, out, err) =>
          resolve({ exitCode: error === null ? 0 : Number(error.code), out, err }),
        );
        child.stdin?.end(input.map((line) => `${line}\n`).join(""));
      });
    if (where === "beside a running service") {
      const service = spawn(process.execPath, [SUBTEXT, "serve"], { ...options, stdio: "ignore" });
      onTestFinished(async () => {
        service.kill("SIGTERM");
        if (service.exitCode === null) await once(service, "exit");
      });
      await until(() =>
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
    }

    const unanswered = await run(["setup"], ["Olive"]);
    expect([unanswered.exitCode, unanswered.out]).toEqual([1, ""]);
    expect(unanswered.err).toContain('No answer was given to "Email".');

    const unknown = await run(
      ["setup", "--engine", "whisper-huge"],
      ["Olive", "o@subtext.example", PASSWORD, "", ""],
    );
    expect(unknown).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("Choose one of bundled, whisper-tiny"),
    });

    const email = "olive@subtext.example";
    const { exitCode, out, err } = await run(
      ["setup", "--email", email],
      ["Olive", PASSWORD, "", "", "bundled"],
    );
    expect(out).toMatch(
      /^owner +olive@subtext.example\nenvironment +Production\ntranscription +on\nengine +bundled\nnext /,
    );
    expect([exitCode, out + err]).toEqual([0, expect.not.stringContaining(PASSWORD)]);
    const { operators } = JSON.parse((await run(["operators", "list", "--json"])).out);
    expect(operators).toMatchObject([{ name: "Olive", email, role: "owner" }]);
    const environments = JSON.parse((await run(["env", "list", "--json"])).out);
    expect(environments).toMatchObject([{ name: "Production", aiTranscription: true }]);

    expect(err).toMatch(
      /^whisper-small \(recommended\) +99 languages +252 MB +\d{4} MB +(–|[\d.]+ × real time)$/m,
    );
    const { findings } = JSON.parse((await run(["doctor", "--json"])).out);
    expect(findings).toContainEqual(
      expect.objectContaining({ name: "languages", status: "ok", detail: "English" }),
    );

    const again = await run(["setup"], ["Mallory", "mallory@subtext.example", PASSWORD]);
    expect(again).toMatchObject({ exitCode: 1, out: "", err: expect.stringContaining("set up already") });
  },
);

test("`setup` on a terminal asks again after an invalid answer", async () => {
  const folder = await temporaryFolder();
  await cp(inject("templateDataFolder"), folder, { recursive: true });
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(
    "script",
    ["--quiet", "--return", "--command", `${process.execPath} ${SUBTEXT} setup`, "/dev/null"],
    {
      cwd: folder,
      env: {
        PATH,
        NODE_COMPILE_CACHE,
        DATA_DIR: folder,
        PORT: String(await freePort()),
        MODEL_HUB_URL: "http://127.0.0.1:1",
        TERM: "xterm",
      },
    },
  );
  onTestFinished(() => void child.kill());
  let shown = "";
  child.stdout.on("data", (text) => {
    shown += text;
  });
  const answer = async (question: string, text: string) => {
    await until(async () => shown.includes(question));
    shown = "";
    child.stdin.write(`${text}\r`);
  };
  await answer("Your name: ", "Olive");
  await answer("Email: ", "olive");
  await answer("This is not a valid email address.", "olive@subtext.example");
  await answer("Password: ", "short");
  await answer("A password must have", PASSWORD);
  await answer("First environment [Production]: ", "");
  await answer("Transcribe its videos, on or off [on]: ", "maybe");
  await answer("Choose on or off.", "off");
  await answer("Speech engine [", "bundled");
  const [exitCode] = await once(child, "exit");
  expect([exitCode, shown]).toEqual([0, expect.stringMatching(/transcription +off/)]);
  expect(shown).not.toContain(PASSWORD);
});
