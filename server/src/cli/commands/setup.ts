import { megabytes } from "@subtext/speech/cli/download-display";
import type { Command } from "commander";
import type { EngineOptionView } from "../../admin/contract/system.ts";
import { commandLine } from "../../lib/command-line.ts";
import { checkEmail, checkName, checkPassword } from "../../operators/operators.ts";
import { transcriptionSwitch } from "../arguments.ts";
import { configOf, runOnService, type Terminal } from "../context.ts";
import { oneOf, openQuestions, type Questions } from "../questions.ts";
import { onOff, properties, table } from "../text.ts";

const DEFAULT_ENVIRONMENT = "Production";

interface Options {
  name?: string;
  email?: string;
  environment?: string;
  transcription?: "on" | "off";
  engine?: string;
}

export function addSetup(program: Command, terminal: Terminal): void {
  runOnService(
    program
      .command("setup")
      .description(
        "create the owner and the first environment, like the setup page; prompts for missing values",
      )
      .option("--name <name>", "the owner's name")
      .option("--email <email>", "the owner's email; the password is always read from standard input")
      .option("--environment <name>", "name of the first environment")
      .addOption(transcriptionSwitch())
      .option(
        "--engine <name>",
        "the bundled engine (bundled), or a model to download; rejected if settings such as WHISPER_MODEL determine the engine",
      ),
    terminal,
    async (client, options: Options) => {
      const { needed, hasEnvironment, engines } = await client.send("GET /setup");
      if (!needed) {
        throw new Error(`Subtext is set up already. To add people: ${commandLine("operators invite")}`);
      }
      const questions = openQuestions(terminal);
      try {
        const owner = await askForOwner(questions, options);
        const environment = hasEnvironment ? undefined : await askForEnvironment(questions, options);
        const engine = options.engine ?? (await askForEngine(questions, engines, terminal));
        const choices = { ...(environment && { environment }), ...(engine !== null && { engine }) };
        await client.send("POST /owner", { body: { ...owner, ...choices } });
        return { email: owner.email, environment: environment ?? null, engine };
      } finally {
        questions.close();
      }
    },
    ({ email, environment, engine }) =>
      properties([
        ["owner", email],
        ["environment", environment?.name ?? null],
        ["transcription", environment && onOff(environment.aiTranscription)],
        ["engine", engine ?? "set by the settings"],
        ["next", `sign in at ${configOf(terminal).publicUrl}`],
      ]),
  );
}

async function askForOwner(questions: Questions, options: Options) {
  const name = options.name ?? (await questions.ask("Your name", { check: checkName }));
  const email = options.email ?? (await questions.ask("Email", { check: checkEmail }));
  return { name, email, password: await questions.askHidden("Password", checkPassword) };
}

async function askForEnvironment(questions: Questions, { environment, transcription }: Options) {
  const name = environment ?? (await questions.ask("First environment", { preset: DEFAULT_ENVIRONMENT }));
  const answer =
    transcription ??
    (await questions.ask("Transcribe its videos, on or off", { preset: "on", check: oneOf(["on", "off"]) }));
  return { name, aiTranscription: answer === "on" };
}

/** Returns null if settings determine the engine. */
async function askForEngine(
  questions: Questions,
  engines: readonly EngineOptionView[],
  { err }: Terminal,
): Promise<string | null> {
  const preset = engines.find(({ isDefault }) => isDefault);
  if (!preset) return null;
  const rows = engines.map(({ name, languages, downloadBytes, memoryBytes, estimatedSpeed, isDefault }) => [
    isDefault ? `${name} (recommended)` : name,
    languages === 1 ? "English" : `${languages} languages`,
    downloadBytes === 0 ? "comes with Subtext" : megabytes(downloadBytes),
    memoryBytes === null ? "–" : megabytes(memoryBytes),
    estimatedSpeed === null ? "–" : `${estimatedSpeed.toFixed(1)} × real time`,
  ]);
  err(`${table(["engine", "languages", "download", "memory", "estimated speed"], rows, "")}\n`);
  const check = oneOf(engines.map(({ name }) => name));
  return await questions.ask("Speech engine", { preset: preset.name, check });
}
