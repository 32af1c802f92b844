import { type Command, CommanderError } from "commander";
import { type Config, readConfig } from "../config.ts";
import type { Finding } from "../doctor.ts";
import type { Terminal } from "./context.ts";
import { findRunning, type InternalClient, openInProcess, overHttp } from "./internal-client.ts";
import { table } from "./text.ts";

/** Ends the command with exit code 1 and no further word. */
const UNWELL = "subtext.unwell";
const MARKS = { ok: "ok", warning: "warning", missing: "MISSING" };

export function addDoctor(program: Command, { env, out }: Terminal): void {
  program
    .command("doctor")
    .description("look at everything that the service needs; exit code 1 where something is missing")
    .option("--files", "look at every file that a video has as well, which may take minutes")
    .action(async ({ files = false }: { files?: boolean }, command: Command) => {
      const findings = await consult(readConfig(env), { files });
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      out(json ? `${JSON.stringify(findings, null, 2)}\n` : render(findings));
      if (findings.some(({ status }) => status === "missing")) throw new CommanderError(1, UNWELL, "");
    });
}

/** Asks the service where it runs or opens, else looks at the parts from outside. */
async function consult(config: Config, { files }: { files: boolean }): Promise<Finding[]> {
  const running = await findRunning(config.dataFolder);
  let client: InternalClient;
  try {
    client = running === null ? await openInProcess(config) : overHttp(running);
  } catch (error) {
    const { diagnoseFromOutside } = await import("./doctor-from-outside.ts");
    return await diagnoseFromOutside(config, error);
  }
  try {
    if (files) await client.send("POST", "/file-check");
    return (await client.send<{ data: Finding[] }>("GET", "/doctor")).data;
  } finally {
    await client.close();
  }
}

function render(findings: Finding[]): string {
  const rows = findings.flatMap(({ name, status, detail, remedy }) => [
    [name, MARKS[status], detail],
    ...(remedy === null ? [] : [["", "", `→ ${remedy}`]]),
  ]);
  return `${table(["part", "state", "detail"], rows, "")}\n`;
}
