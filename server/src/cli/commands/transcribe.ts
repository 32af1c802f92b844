import { constants } from "node:fs";
import { access, writeFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { renderSrt } from "@subtext/captions/srt";
import { normalizeWords } from "@subtext/captions/words";
import { FILE_FORMATS } from "@subtext/client/contract/transcription";
import { stopSignal, transcribeFiles } from "@subtext/speech/cli/transcribe-files";
import { DEFAULT_MODEL_NAME } from "@subtext/speech/models/catalog";
import { readMemoryLimit } from "@subtext/speech/processes/memory-limit";
import type { Transcript } from "@subtext/speech/transcript";
import { type Command, CommanderError } from "commander";
import { programCommand } from "../../lib/command-line.ts";
import { isAbsence } from "../../lib/files.ts";
import { renderTranscript } from "../../transcription/render.ts";
import { configOf, type Terminal } from "../context.ts";

const FORMATS = [...new Set(["vtt", "srt", ...FILE_FORMATS] as const)];
const EXTENSIONS = FORMATS.map((format) => `.${format}`);

const FAILED = "subtext.notTranscribed";

export function addTranscribe(program: Command, terminal: Terminal): void {
  program
    .command("transcribe <files...>")
    .description(
      `transcribe recordings without the service, to ${EXTENSIONS.slice(0, -1).join(", ")} and ${EXTENSIONS.at(-1)} files next to them`,
    )
    .option("--force", "replace files that exist")
    .action(async (files: string[], { force = false }: { force?: boolean }, command: Command) => {
      const { engine, configuredEngines, whisperModel, modelsFolder, ...config } = configOf(terminal);
      await requireNoConflict(files.flatMap(transcriptPaths), { force });
      await requireWritable(new Set(files.map((file) => dirname(file))));
      const settings = {
        program: "subtext",
        calledAs: programCommand(),
        engine,
        // Null selects the best installed model.
        model: whisperModel === DEFAULT_MODEL_NAME ? null : whisperModel,
        modelsFolder,
        configured: configuredEngines,
        priority: config.speechPriority,
        threads: config.speechThreads,
        memoryLimitBytes: config.speechMemoryLimitBytes,
        ffmpegPath: config.ffmpegPath,
        maxDurationSeconds: config.maxDurationSeconds,
        quiet: false,
      };
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const exitCode = await transcribeFiles(
        files,
        settings,
        { ...terminal, memoryLimit: () => readMemoryLimit() },
        stopSignal(),
        async (file, outcome) => {
          if (outcome.outcome !== "transcribed") return;
          const written = await write(file, outcome, { force });
          terminal.out(json ? `${JSON.stringify({ file, written })}\n` : `${written.join("\n")}\n`);
        },
      );
      if (exitCode !== 0) throw new CommanderError(exitCode, FAILED, "");
    });
}

/** Returns the paths of a recording's transcripts, in the order of `FORMATS`. */
function transcriptPaths(file: string): string[] {
  const stem = file.slice(0, file.length - extname(basename(file)).length);
  return FORMATS.map((format) => `${stem}.${format}`);
}

/**
 * @throws Error if two recordings would be transcribed to the same file, or if a file exists and `force` is false
 */
async function requireNoConflict(paths: readonly string[], { force }: { force: boolean }): Promise<void> {
  const seen = new Set<string>();
  for (const path of paths) {
    if (seen.has(resolve(path))) throw new Error(`Two of the recordings would be transcribed to ${path}.`);
    seen.add(resolve(path));
    if (force) continue;
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) throw new Error(`${path} already exists. To replace it, use --force.`);
  }
}

/**
 * Runs before the first recording is transcribed, which can take long. Ignores a missing folder, because the error about
 * its recording is clearer.
 */
async function requireWritable(folders: Iterable<string>): Promise<void> {
  for (const folder of folders) {
    try {
      await access(folder, constants.W_OK);
    } catch (error) {
      if (isAbsence(error)) continue;
      throw new Error(`Transcripts are written next to the recordings, but ${folder} is not writable.`, {
        cause: error,
      });
    }
  }
}

async function write(file: string, transcript: Transcript, { force }: { force: boolean }): Promise<string[]> {
  const { words, duration, language } = transcript;
  const srt = renderSrt(normalizeWords(words, duration), { language });
  const contents = { srt, ...renderTranscript(transcript).files };
  const targets = transcriptPaths(file);
  for (const [index, format] of FORMATS.entries()) {
    await writeFile(targets[index]!, contents[format], { flag: force ? "w" : "wx" });
  }
  return targets;
}
