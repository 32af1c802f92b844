import { addModelCommands } from "@subtext/speech/cli/model-commands";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { commandLine } from "../../lib/command-line.ts";
import { configOf, type Terminal } from "../context.ts";
import { connectOverHttp, findRunning } from "../internal-client.ts";

export function addModels(program: Command, terminal: Terminal): void {
  addModelCommands(program, {
    terminal,
    settings() {
      const config = configOf(terminal);
      const { modelsFolder, modelHubUrl, modelHubToken, whisperModel } = config;
      return {
        folder: modelsFolder,
        hub: { url: modelHubUrl, token: modelHubToken },
        wanted: whisperModel,
        encoder: config.whisperEncoder,
        threads: config.speechThreads,
      };
    },
    calledAs: commandLine("models"),
    wantedBy: "the model in WHISPER_MODEL",
    inUse: {
      force: "even if the running service uses it",
      check: (name) => requireUnused(configOf(terminal), name),
    },
  });
}

/** @throws Error if a running service uses this model, or would use it after its engine restarts */
async function requireUnused({ dataFolder, engine, whisperModel }: Config, name: string): Promise<void> {
  const running = await findRunning(dataFolder);
  if (running === null) return;
  const configuredModel = engine === "auto" || engine === "whisper" ? whisperModel : null;
  // The running service may use a model that was chosen during setup instead of the configured one.
  const used = await connectOverHttp(running)
    .send("GET /system")
    .then(
      ({ model }) => model.wanted,
      () => configuredModel,
    );
  if (name !== used) return;
  throw new Error(
    `The running service at ${running.url} uses ${name}. Stop it or choose another WHISPER_MODEL first; --force removes it anyway.`,
  );
}
