import {
  DEFAULT_MODEL_NAME,
  KNOWN_MODELS,
  type KnownModel,
  knownModel,
} from "@subtext/speech/models/catalogue";
import { openModelStore } from "@subtext/speech/models/store";
import type { StoredModel } from "@subtext/speech/models/stored-model";
import { type Command, CommanderError } from "commander";
import { type Config, readConfig } from "../config.ts";
import { type DownloadDisplay, drawBar, megabytes, writeLines } from "../download-display.ts";
import type { Terminal } from "./context.ts";
import { findRunning } from "./internal-client.ts";
import { table, time } from "./text.ts";

/** Ends the command with exit code 1 and no further word. */
const DAMAGED = "subtext.damaged";

/** What `models list --json` prints of each. */
export interface ModelView {
  name: string;
  state: "available" | StoredModel["state"];
  /** Whether it is the one of WHISPER_MODEL. */
  wanted: boolean;
  languages: number | null;
  licence: string | null;
  repository: string | null;
  commit: string | null;
  /** On the disk. */
  bytes: number;
  /** Of the whole; about, until the hub has said it. */
  totalBytes: number | null;
  memoryBytes: number | null;
  folder: string | null;
  installedAt: string | null;
  damage: string[];
}

export function addModels(program: Command, terminal: Terminal): void {
  const group = program.command("models").description("speech models: what there is, and what is installed");
  const { env, out } = terminal;
  const answer = <T>(command: Command, value: T, text: string) => {
    const { json } = command.optsWithGlobals<{ json?: boolean }>();
    out(json ? `${JSON.stringify(value, null, 2)}\n` : `${text}\n`);
  };

  group
    .command("list")
    .description("every model that can be had, and where it is installed")
    .action(async (_options: object, command: Command) => {
      const models = await listModels(readConfig(env));
      answer(command, models, describeModels(models));
    });

  group
    .command("pull [model]")
    .description("download a model, or go on with it; WHISPER_MODEL where none is named")
    .action(async (name: string | undefined, _options: object, command: Command) => {
      const config = readConfig(env);
      const model = chooseModel(config, name);
      const { folder, already } = await pull(config, model, terminal);
      const text = already ? "is installed already" : "installed";
      answer(command, { name: model.name, folder, already }, `${model.name} ${text}: ${folder}`);
    });

  group
    .command("verify [model]")
    .description("compare files with their hashes; exit code 1 where one has changed")
    .action(async (name: string | undefined, _options: object, command: Command) => {
      const store = openModelStore({ folder: readConfig(env).modelsFolder });
      const stored = await store.list();
      const checkable = stored.filter(({ manifest }) => manifest !== null).map((model) => model.name);
      const verdicts: { name: string; damage: string[] }[] = [];
      for (const each of name === undefined ? checkable : [name]) {
        verdicts.push({ name: each, damage: await store.verify(each, new AbortController().signal) });
      }
      const lines = verdicts.flatMap(({ name, damage }) => [
        `${name}  ${damage.length === 0 ? "ok" : "DAMAGED"}`,
        ...damage.map((line) => `  ${line}`),
      ]);
      answer(command, verdicts, lines.join("\n") || "There is no model to check.");
      if (verdicts.some(({ damage }) => damage.length > 0)) throw new CommanderError(1, DAMAGED, "");
    });

  group
    .command("rm <model>")
    .description("remove a model, and what was begun of it")
    .option("--force", "also the one that the running service hears with")
    .action(async (name: string, { force }: { force?: boolean }, command: Command) => {
      const config = readConfig(env);
      if (!force) await requireUnused(config, name);
      const removed = await openModelStore({ folder: config.modelsFolder }).remove(name);
      answer(command, { name, removed }, removed ? `${name} removed` : `${name} is not installed`);
    });
}

async function listModels({ modelsFolder, whisperModel }: Config): Promise<ModelView[]> {
  const stored = new Map(
    (await openModelStore({ folder: modelsFolder }).list()).map((each) => [each.name, each]),
  );
  const names = new Set([...KNOWN_MODELS.map(({ name }) => name), ...stored.keys()]);
  return [...names].map((name) => {
    const [known, there] = [knownModel(name), stored.get(name)];
    return {
      name,
      state: there?.state ?? "available",
      wanted: name === whisperModel,
      languages: known?.languageCount ?? null,
      licence: known?.licence ?? there?.manifest?.licence ?? null,
      repository: there?.manifest?.source.repository ?? known?.repository ?? null,
      commit: there?.manifest?.source.commit ?? null,
      bytes: there?.bytes ?? 0,
      totalBytes: there?.totalBytes ?? known?.downloadBytes ?? null,
      memoryBytes: known?.memoryBytes ?? null,
      folder: there?.folder ?? null,
      installedAt: there?.manifest?.installedAt ?? null,
      damage: there?.damage ?? [],
    };
  });
}

function describeModels(models: ModelView[]): string {
  const rows = models.map((model) => [
    `${model.name}${model.wanted ? " *" : ""}`,
    model.languages === null ? "–" : String(model.languages),
    megabytes(model.totalBytes ?? model.bytes),
    model.memoryBytes === null ? "–" : megabytes(model.memoryBytes),
    model.state === "partial" ? `partial, ${megabytes(model.bytes)}` : model.state,
    time(model.installedAt),
    model.licence ?? "–",
    model.repository ?? "–",
  ]);
  const damage = models.flatMap(({ name, damage }) => damage.map((line) => `${name}: ${line}`));
  const headings = ["model", "languages", "size", "memory", "state", "installed", "licence", "source"];
  const note = "* the one of WHISPER_MODEL; memory is a rough figure";
  return [table(headings, rows, ""), ...damage, "", note].join("\n");
}

function chooseModel({ whisperModel }: Config, name: string | undefined): KnownModel {
  const model = knownModel(name ?? whisperModel);
  if (model) return model;
  if (name === undefined) {
    throw new Error(
      `WHISPER_MODEL is a folder of its own, ${whisperModel}; name a model: ${DEFAULT_MODEL_NAME}.`,
    );
  }
  const names = KNOWN_MODELS.map((known) => known.name).join(", ");
  throw new Error(`There is no model ${name}; there are ${names}.`);
}

async function pull(
  config: Config,
  model: KnownModel,
  { err, errColumns }: Terminal,
): Promise<{ folder: string; already: boolean }> {
  const store = openModelStore({ folder: config.modelsFolder });
  const display: DownloadDisplay =
    errColumns() === null
      ? writeLines((line) => err(`${model.name}  ${line}\n`))
      : drawBar(model.name, { write: err, columns: () => errColumns() ?? 80 });
  try {
    const installed = await store.install(model, {
      hub: { url: config.modelHubUrl, token: config.modelHubToken },
      // Ctrl-C ends the process; what has arrived is gone on from.
      signal: new AbortController().signal,
      onProgress: (progress) => display.show(progress),
    });
    return { folder: installed.model.folder, already: installed.already };
  } finally {
    display.end();
  }
}

/** @throws Error where a service runs that hears with this model, or will with its next process */
async function requireUnused({ dataFolder, engine, whisperModel }: Config, name: string): Promise<void> {
  if (name !== whisperModel || (engine !== "auto" && engine !== "whisper")) return;
  const running = await findRunning(dataFolder);
  if (running === null) return;
  throw new Error(
    `The service that runs at ${running.url} hears with ${name}. Stop it or choose another WHISPER_MODEL first; --force removes it all the same.`,
  );
}
