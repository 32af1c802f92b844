import { once } from "node:events";
import { createServer } from "node:net";
import { progressTerminal } from "@subtext/speech/cli/terminal";
import { checkConfiguredFfmpeg } from "@subtext/speech/media/open-decoder";
import { type Command, Option } from "commander";
import { SETUP_PATH } from "../../admin/contract/pages.ts";
import type { Config } from "../../config/config.ts";
import { SETTINGS } from "../../config/settings.ts";
import { commandLine } from "../../lib/command-line.ts";
import { createLog } from "../../telemetry/log.ts";
import { actAsOwner } from "../act-as-owner.ts";
import { configOf, type Terminal } from "../context.ts";
import { openServiceFor } from "../open-service.ts";

/** npm forwards a signal that the terminal has already sent to this process. The duplicate is ignored. */
const DUPLICATE_SIGNAL_WINDOW_MS = 500;

const CLEAR_LINE = "\r\u001b[K";

export function addServe(program: Command, terminal: Terminal): void {
  program
    .command("serve")
    .description("run the service")
    .addOption(
      new Option("--role <role>", "what this process does; same as ROLE").choices(SETTINGS.ROLE.choices),
    )
    .action(async ({ role }: { role?: string }) => {
      const { out } = terminal;
      const config = configOf(terminal, role === undefined ? {} : { ROLE: role });
      const screen = progressTerminal(terminal);
      // A log line on the same terminal must first clear the progress bar.
      const log = createLog(
        config.logLevel,
        screen && process.stdout.isTTY ? { write: (line) => out(`${CLEAR_LINE}${line}`) } : undefined,
      );
      const exitWith = (error: unknown, message: string) => {
        log.fatal({ err: error }, message);
        process.exit(1);
      };
      for (const event of ["unhandledRejection", "uncaughtException"]) {
        process.on(event, (error) => exitWith(error, "unhandled error"));
      }
      await actAsOwner(config.dataFolder);
      await requirePort(config);
      await requireDecoder(config);
      const service = await openServiceFor({
        config,
        log,
        terminal: screen,
        onCrash: (error) =>
          exitWith(error, "the embedded database crashed; restart the service to recover it"),
      });
      const stopRequested = stopSignal();
      try {
        // Runs before the service reports that it is ready, because an error here must make startup fail.
        const setupToken = config.role === "worker" ? null : await service.parts.operators.newSetupToken();
        await service.start();
        out(greeting(config, setupToken));
        await stopRequested;
      } catch (error) {
        throw explain(error, config);
      } finally {
        await service.stop();
      }
    });
}

/**
 * Runs before the service opens its data, because an accidental second start must not create a database or take jobs
 * from the first.
 * @throws Error if the port is not available
 */
async function requirePort(config: Config): Promise<void> {
  const probe = createServer().listen(config.port, config.host);
  try {
    await once(probe, "listening");
  } catch (error) {
    throw explain(error, config);
  }
  probe.close();
  await once(probe, "close");
}

/** @throws Error if the configured ffmpeg would fail for every recording */
async function requireDecoder({ role, ffmpegPath }: Config): Promise<void> {
  if (role === "api" || ffmpegPath === null) return;
  const fault = await checkConfiguredFfmpeg({ ffmpegPath });
  if (fault !== null) throw new Error(`FFMPEG_PATH=${ffmpegPath} is invalid: ${fault}`);
}

/**
 * Resolves on the first SIGTERM or SIGINT; a second signal ends the process immediately. Call it only after the service
 * is open: until then, the first signal should end the process, because there are no jobs to hand back.
 */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        const now = performance.now();
        if (firstAt !== null && now - firstAt > DUPLICATE_SIGNAL_WINDOW_MS) process.exit(1);
        firstAt ??= now;
        resolve();
      });
    }
  });
}

function greeting({ role, publicUrl, dataFolder, bucket }: Config, setupToken: string | null): string {
  if (role === "worker") return "This Subtext worker is running.\n";
  const place = bucket === null ? dataFolder : `the bucket ${bucket.name}`;
  if (setupToken === null) return `Subtext is running at ${publicUrl}. Its data is in ${place}.\n`;
  return `
Subtext is running. Its data is in ${place}.

  1. Open this link. It makes you the owner. It works once, and only until the next start:
     ${publicUrl}${SETUP_PATH}#${setupToken}
  2. Drop a video onto the page, or upload it with the API: ${publicUrl}/docs
  3. If something does not work, run: ${commandLine("doctor")}

`;
}

/** Replaces an error of `listen` with one that names the setting. */
function explain(error: unknown, { host, port }: Config): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is already in use. Set PORT to another port.`,
    EACCES: `This user is not allowed to use port ${port}. Set PORT to a port above 1023.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}. Set HOST to an address of this machine.`,
    ENOTFOUND: `The host ${host} cannot be resolved. Set HOST to an address of this machine.`,
  };
  const reason = code === undefined ? undefined : reasons[code];
  return reason === undefined ? error : new Error(reason, { cause: error });
}
