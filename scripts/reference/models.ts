import { weightBytesOf } from "@subtext/speech/engines/whisper/graph-files";
import { KNOWN_MODELS, type KnownModel, withEncoder } from "@subtext/speech/models/catalog";
import { additionalBytes } from "@subtext/speech/processes/memory";
import { readModelFigures } from "../../bench/src/models/figures.ts";
import { SETTINGS } from "../../server/src/config/settings.ts";
import { renderTable } from "./markdown.ts";

const THREADS = 2;

/** Renders the models that can be installed by name. */
export function renderModels(): string {
  const limitBytes = Number(SETTINGS.SPEECH_MEMORY_LIMIT_MB.default) * 1024 ** 2;
  const rows = KNOWN_MODELS.map((model) => [
    `\`${model.name}\``,
    String(model.languageCount),
    megabytes(model.downloadBytes),
    gigabytes(model.memoryBytes),
    gigabytes(limitBytes + additionalBytes(THREADS, weightBytes(model.name))),
    describeSinglePrecision(model),
    `\`${model.repository}\``,
  ]);
  const limit = `memory limit, ${THREADS} threads`;
  return renderTable(
    ["model", "languages", "download", "memory", limit, "with an encoder in single precision", "source"],
    rows,
  );
}

/** Returns the estimated memory of the weights in 8 bits. */
function weightBytes(name: string): number {
  const measured = readModelFigures().models.find(
    ({ model, encoder, decoder }) => model === name && encoder === "int8" && decoder === "int8",
  );
  if (measured === undefined) throw new Error(`${name} was not measured.`);
  const { encoderBytes, decoderBytes } = measured;
  return (
    weightBytesOf("encoder", "eightBits", encoderBytes) + weightBytesOf("decoder", "eightBits", decoderBytes)
  );
}

function describeSinglePrecision(model: KnownModel): string {
  if (!model.encoders.includes("fp32")) return "–";
  const { downloadBytes, memoryBytes } = withEncoder(model, "fp32");
  return `${megabytes(downloadBytes)}, ${gigabytes(memoryBytes)} of memory`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
