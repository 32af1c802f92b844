import { type Command, CommanderError, Option } from "commander";
import { DEFAULT_MODEL_NAME, KNOWN_MODELS, type KnownModel, knownModel } from "../models/catalog.ts";
import { asInstalled, type ModelSpeed, speedOf } from "../models/estimated-speed.ts";
import type { Hub } from "../models/hub.ts";
import { readMeasuredSpeed } from "../models/measured-speed.ts";
import type { Precision } from "../models/precision.ts";
import { type InstallOptions, type ModelStore, openModelStore } from "../models/store.ts";
import type { StoredModel } from "../models/stored-model.ts";
import { chosenEncoder, ENCODER_CHOICES, type EncoderChoice } from "../processes/encoder-choice.ts";
import { machineSpeed, storedMachineSpeed } from "../processes/machine-speed.ts";
import { tryModel } from "../processes/try-model.ts";
import { drawBar, megabytes, writeLines } from "./download-display.ts";
import { progressTerminal, type Terminal } from "./terminal.ts";

/** Ends the command with exit code 1 without another message. */
const DAMAGED = "subtext.damaged";

export interface ModelSettings {
  /** Absolute path of the models folder. */
  folder: string;
  hub: Hub;
  /** Name or absolute path of the model to pull by default. */
  wanted: string;
  /** Used unless `--encoder` is given. */
  encoder: EncoderChoice;
  /** Threads of a speech process. The encoder is chosen for this number. */
  threads: number;
}

export interface ModelCommandsOptions {
  terminal: Pick<Terminal, "out" | "err" | "errColumns">;
  /** @throws Error if a setting is invalid */
  settings: (command: Command) => ModelSettings;
  /** Command prefix for advice: `npx subtext models`. */
  calledAs: string;
  /** Why this model is the default: `the model in WHISPER_MODEL`. */
  wantedBy: string;
  /** Checked before a model is removed, unless `--force` is given. */
  inUse?: {
    /** Description of `--force`. */
    force: string;
    /** @throws Error if the model is in use */
    check: (name: string) => Promise<void>;
  };
}

/** An entry of `models list --json`. */
export interface ModelView {
  name: string;
  state: "available" | StoredModel["state"];
  /** Whether it is the configured model. */
  wanted: boolean;
  languages: number | null;
  license: string | null;
  repository: string | null;
  commit: string | null;
  /** Bytes on disk. */
  bytes: number;
  /** An estimate until the hub reports the size. */
  totalBytes: number | null;
  memoryBytes: number | null;
  /** On this machine; null if neither the model nor the machine was measured. */
  speed: ModelSpeed | null;
  folder: string | null;
  installedAt: string | null;
  damage: string[];
}

/** Adds `models list`, `pull`, `verify` and `rm`. The program must have the option `--json`. */
export function addModelCommands(program: Command, options: ModelCommandsOptions): void {
  const { terminal, settings, calledAs, wantedBy, inUse } = options;
  const group = program.command("models").description("manage speech models");
  const print = <T>(command: Command, value: T, text: string) => {
    const { json } = command.optsWithGlobals<{ json?: boolean }>();
    terminal.out(json ? `${JSON.stringify(value, null, 2)}\n` : `${text}\n`);
  };
  const openStore = ({ folder }: ModelSettings) => openModelStore({ folder, calledAs });

  group
    .command("list")
    .description("list all available models with their size, memory, speed and state")
    .action(async (_options: object, command: Command) => {
      const chosen = settings(command);
      const models = await listModels(openStore(chosen), chosen);
      print(command, models, describeModels(models, wantedBy));
    });

  group
    .command("pull [model]")
    .description(`download a model or resume its download; ${wantedBy} by default`)
    .addOption(
      new Option(
        "--encoder <precision>",
        "precision of the encoder to download, which replaces that of an installed model; auto measures this machine for two seconds and chooses",
      ).choices(ENCODER_CHOICES),
    )
    .action(async (name: string | undefined, options: { encoder?: EncoderChoice }, command: Command) => {
      const chosen = settings(command);
      const model = chooseModel(name ?? chosen.wanted);
      if (options.encoder !== undefined && options.encoder !== "auto") checkEncoder(model, options.encoder);
      const preferred = chosenEncoder(options.encoder ?? chosen.encoder, () =>
        machineSpeed(chosen.folder, chosen.threads),
      );
      // A precision from the settings is for downloads. Only the option replaces an installed encoder.
      const encoder =
        options.encoder === undefined && typeof preferred === "string" ? async () => preferred : preferred;
      const { folder, wasInstalled } = await pull(openStore(chosen), model, { ...chosen, encoder }, terminal);
      const text = wasInstalled ? "is already installed" : "installed";
      print(command, { name: model.name, folder, wasInstalled }, `${model.name} ${text}: ${folder}`);
    });

  group
    .command("verify [model]")
    .description(
      "compare the files of a model, or of all installed models, with their hashes; exit with code 1 if a file has changed",
    )
    .action(async (name: string | undefined, _options: object, command: Command) => {
      const store = openStore(settings(command));
      const stored = await store.list();
      const checkable = stored.filter(({ manifest }) => manifest !== null).map((model) => model.name);
      const checked: { name: string; damage: string[] }[] = [];
      for (const each of name === undefined ? checkable : [name]) {
        checked.push({ name: each, damage: await store.verify(each, new AbortController().signal) });
      }
      const lines = checked.flatMap(({ name, damage }) => [
        `${name}  ${damage.length === 0 ? "ok" : "DAMAGED"}`,
        ...damage.map((line) => `  ${line}`),
      ]);
      print(command, checked, lines.join("\n") || "There are no models to verify.");
      if (checked.some(({ damage }) => damage.length > 0)) throw new CommanderError(1, DAMAGED, "");
    });

  const rm = group.command("rm <model>").description("remove a model and its partial download");
  if (inUse) rm.option("--force", inUse.force);
  rm.action(async (name: string, { force }: { force?: boolean }, command: Command) => {
    const store = openStore(settings(command));
    if (!force) await inUse?.check(name);
    const removed = await store.remove(name);
    print(command, { name, removed }, removed ? `${name} removed` : `${name} is not installed`);
  });
}

async function listModels(store: ModelStore, settings: ModelSettings): Promise<ModelView[]> {
  const { wanted, threads } = settings;
  const stored = new Map((await store.list()).map((each) => [each.name, each]));
  const names = new Set([...KNOWN_MODELS.map(({ name }) => name), ...stored.keys()]);
  const machine = await storedMachineSpeed(store.folder, threads);
  return await Promise.all(
    [...names].map(async (name) => {
      const [known, there] = [knownModel(name), stored.get(name)];
      const measured = there?.state === "installed" ? await readMeasuredSpeed(there.folder, threads) : null;
      const variant = known === undefined ? null : asInstalled(known, there?.manifest ?? null);
      return {
        name,
        state: there?.state ?? "available",
        wanted: name === wanted,
        languages: known?.languageCount ?? null,
        license: known?.license ?? there?.manifest?.licence ?? null,
        repository: there?.manifest?.source.repository ?? known?.repository ?? null,
        commit: there?.manifest?.source.commit ?? null,
        bytes: there?.bytes ?? 0,
        totalBytes: there?.totalBytes ?? known?.downloadBytes ?? null,
        memoryBytes: known?.memoryBytes ?? null,
        speed: speedOf(variant, { measured, machine }),
        folder: there?.folder ?? null,
        installedAt: there?.manifest?.installedAt ?? null,
        damage: there?.damage ?? [],
      };
    }),
  );
}

function describeModels(models: readonly ModelView[], wantedBy: string): string {
  const headings = [
    "model",
    "languages",
    "size",
    "memory",
    "speed",
    "state",
    "installed",
    "license",
    "source",
  ];
  const rows = models.map((model) => [
    `${model.name}${model.wanted ? " *" : ""}`,
    model.languages === null ? "–" : String(model.languages),
    megabytes(model.totalBytes ?? model.bytes),
    model.memoryBytes === null ? "–" : megabytes(model.memoryBytes),
    describeSpeed(model.speed),
    model.state === "partial" ? `partial, ${megabytes(model.bytes)}` : model.state,
    model.installedAt === null
      ? "–"
      : `${model.installedAt.slice(0, 10)} ${model.installedAt.slice(11, 16)} UTC`,
    model.license ?? "–",
    model.repository ?? "–",
  ]);
  const damage = models.flatMap(({ name, damage }) => damage.map((line) => `${name}: ${line}`));
  const note = `* ${wantedBy}; memory usage is approximate, speed is in multiples of real time`;
  return [...aligned([headings.map((heading) => heading.toUpperCase()), ...rows]), ...damage, "", note].join(
    "\n",
  );
}

function describeSpeed(speed: ModelSpeed | null): string {
  if (speed === null) return "–";
  return `${speed.realTime.toPrecision(2)} × ${speed.isMeasured ? "measured" : "estimated"}`;
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}

function chooseModel(name: string): KnownModel {
  const model = knownModel(name);
  if (model) return model;
  if (name.includes("/")) {
    throw new Error(
      `${name} contains a slash. Only models of the catalog can be downloaded, such as ${DEFAULT_MODEL_NAME}.`,
    );
  }
  const names = KNOWN_MODELS.map((known) => known.name).join(", ");
  throw new Error(`There is no model ${name}. Available models: ${names}.`);
}

/** @throws Error if the model is not available with this encoder */
function checkEncoder({ name, encoders }: KnownModel, encoder: Precision): void {
  if (encoders.includes(encoder)) return;
  throw new Error(`${name} has no ${encoder} encoder. Available: ${encoders.join(", ")}.`);
}

async function pull(
  store: ModelStore,
  model: KnownModel,
  options: Pick<InstallOptions, "hub" | "encoder">,
  terminal: ModelCommandsOptions["terminal"],
): Promise<{ folder: string; wasInstalled: boolean }> {
  const screen = progressTerminal(terminal);
  const display = screen
    ? drawBar(model.name, screen)
    : writeLines((line) => terminal.err(`${model.name}  ${line}\n`));
  try {
    const installed = await store.install(model, {
      hub: options.hub,
      ...(options.encoder && { encoder: options.encoder }),
      // Ctrl-C ends the process. The next download resumes.
      signal: new AbortController().signal,
      onProgress: (progress) => display.show(progress),
      tryModel,
    });
    return { folder: installed.model.folder, wasInstalled: installed.wasInstalled };
  } finally {
    display.end();
  }
}
