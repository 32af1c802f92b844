import { type Command, CommanderError } from "commander";
import type { FindingView } from "../../admin/contract/system.ts";
import type { Config } from "../../config/config.ts";
import type { EffectiveSetting } from "../../config/settings-reader.ts";
import { commandLine } from "../../lib/command-line.ts";
import { configOf, print, type Terminal } from "../context.ts";
import { connectOverHttp, findRunning, type InternalClient, openInProcess } from "../internal-client.ts";
import { table } from "../text.ts";

const UNHEALTHY = "subtext.unhealthy";
const FIX_FIRST = "Fix the parts that are MISSING, then run this command again.";
const START = `Start the service: ${commandLine("serve")}`;
const MARKS = { ok: "ok", warning: "warning", missing: "MISSING" };

interface Diagnosis {
  findings: FindingView[];
  settings: EffectiveSetting[];
  /** The recommended next step. */
  next: string;
}

export function addDoctor(program: Command, terminal: Terminal): void {
  program
    .command("doctor")
    .description("check all settings and parts of the service; exit with code 1 if a check fails")
    .option("--files", "also check that every video's files exist, which may take minutes")
    .action(async ({ files = false }: { files?: boolean }, command: Command) => {
      const diagnosis = await runChecks(configOf(terminal), { files });
      print(terminal, command, diagnosis, render);
      if (diagnosis.findings.some(({ status }) => status === "missing")) {
        throw new CommanderError(1, UNHEALTHY, "");
      }
    });
}

/** Runs the checks in the service if it is running or can be opened; otherwise checks its parts separately. */
async function runChecks(config: Config, { files }: { files: boolean }): Promise<Diagnosis> {
  const running = await findRunning(config.dataFolder);
  let client: InternalClient;
  try {
    client = running === null ? await openInProcess(config) : connectOverHttp(running);
  } catch (error) {
    const { diagnoseWithoutService, INSTALLATION } = await import("../diagnose-without-service.ts");
    const findings = await diagnoseWithoutService(config, error);
    const missing = findings.filter(({ status }) => status === "missing").map(({ name }) => name);
    const isFirst = missing.length === 1 && missing[0] === INSTALLATION;
    return { findings, settings: config.settings, next: isFirst ? START : FIX_FIRST };
  }
  try {
    if (files) await client.send("POST /file-check");
    const { data } = await client.send("GET /doctor");
    const settings = await client.send("GET /settings");
    const next = data.some(({ status }) => status === "missing")
      ? FIX_FIRST
      : await nextStep(client, publicUrlOf(settings.data), running !== null);
    return { findings: data, settings: settings.data, next };
  } finally {
    await client.close();
  }
}

/** Returns the next step toward the first transcript. */
async function nextStep(client: InternalClient, publicUrl: string, isRunning: boolean): Promise<string> {
  if (!isRunning) return START;
  const { data: operators } = await client.send("GET /operators");
  const { data: environments } = await client.send("GET /environments");
  if (operators.length === 0 && environments.length === 0)
    return "Open the link that the service printed when it started. It makes you the owner.";
  if (environments.length === 0) return `Create an environment: ${commandLine("env create <name>")}`;
  return `Upload a video at ${publicUrl}, or with the API: ${publicUrl}/docs`;
}

/** The running service may have other settings than this command. */
function publicUrlOf(settings: EffectiveSetting[]): string {
  return (settings.find(({ name }) => name === "PUBLIC_URL")?.value ?? "").replace(/\/$/, "");
}

function render({ findings, settings, next }: Diagnosis): string {
  const rows = findings.flatMap(({ name, status, detail, remedy }) => [
    [name, MARKS[status], detail],
    ...(remedy === null ? [] : [["", "", `→ ${remedy}`]]),
  ]);
  const parts = `${table(["part", "state", "detail"], rows, "")}\n`;
  const settingRows = settings.map(({ name, value, from }) => [name, value ?? "–", from]);
  return `${parts}\n${table(["setting", "value", "from"], settingRows, "")}\n\nNext: ${next}\n`;
}
