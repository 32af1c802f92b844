import { type Command, CommanderError } from "commander";
import type { Config } from "../config/config.ts";
import type { SettingInForce } from "../config/settings-reader.ts";
import type { Finding } from "../health/doctor.ts";
import { configOf, type Terminal } from "./context.ts";
import { findRunning, type InternalClient, openInProcess, overHttp } from "./internal-client.ts";
import { table } from "./text.ts";

/** Ends the command with exit code 1 without another message. */
const UNHEALTHY = "subtext.unhealthy";
const MARKS = { ok: "ok", warning: "warning", missing: "MISSING" };

interface Diagnosis {
  findings: Finding[];
  /** Checks by the service that runs on the data folder, if there is one. */
  settings: SettingInForce[];
}

export function addDoctor(program: Command, terminal: Terminal): void {
  program
    .command("doctor")
    .description("check all settings and parts of the service; exit code 1 if something is missing")
    .option("--files", "also check that every video's files exist, which may take minutes")
    .action(async ({ files = false }: { files?: boolean }, command: Command) => {
      const diagnosis = await runChecks(configOf(terminal), { files });
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      terminal.out(json ? `${JSON.stringify(diagnosis, null, 2)}\n` : render(diagnosis));
      if (diagnosis.findings.some(({ status }) => status === "missing")) {
        throw new CommanderError(1, UNHEALTHY, "");
      }
    });
}

/** Runs the checks in the service if it runs or opens, else checks the parts from outside. */
async function runChecks(config: Config, { files }: { files: boolean }): Promise<Diagnosis> {
  const running = await findRunning(config.dataFolder);
  let client: InternalClient;
  try {
    client = running === null ? await openInProcess(config) : overHttp(running);
  } catch (error) {
    const { diagnoseFromOutside } = await import("./doctor-from-outside.ts");
    return { findings: await diagnoseFromOutside(config, error), settings: config.settings };
  }
  try {
    if (files) await client.send("POST /file-check");
    const { data } = await client.send("GET /doctor");
    const settings = await client.send("GET /settings");
    return { findings: data, settings: settings.data };
  } finally {
    await client.close();
  }
}

function render({ findings, settings }: Diagnosis): string {
  const rows = findings.flatMap(({ name, status, detail, remedy }) => [
    [name, MARKS[status], detail],
    ...(remedy === null ? [] : [["", "", `→ ${remedy}`]]),
  ]);
  const parts = `${table(["part", "state", "detail"], rows, "")}\n`;
  const inForce = settings.map(({ name, value, from }) => [name, value ?? "–", from]);
  return `${parts}\n${table(["setting", "value", "from"], inForce, "")}\n`;
}
