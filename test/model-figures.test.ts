import { weightBytesOf } from "@subtext/speech/engines/whisper/graph-files";
import { MAX_BATCH_BYTES, rowBytes } from "@subtext/speech/engines/whisper/whisper";
import { KNOWN_MODELS, withEncoder } from "@subtext/speech/models/catalog";
import { additionalBytes, fitParallelism } from "@subtext/speech/processes/memory";
import { expect, test } from "vitest";
import { DIMENSIONS, ENCODER_FRAMES, MAX_TOKENS } from "../bench/src/models/dimensions.ts";
import { type MeasuredModel, readModelFigures } from "../bench/src/models/figures.ts";
import { ALIGNMENT_HEADS } from "../bench/src/models/model-folder.ts";
import { SETTINGS } from "../server/src/config/settings.ts";

const { models, threads } = readModelFigures();
const LIMIT_BYTES = Number(SETTINGS.SPEECH_MEMORY_LIMIT_MB.default) * 1024 ** 2;
/** The decoder is a separate process, which the minimum includes. */
const DECODER_BYTES = 150e6;
const WEIGHTS = { int8: "eightBits", fp16: "fp16", fp32: "fp32" } as const;

test("the memory of every model in the catalog is what the benchmark measured", () => {
  const offered = KNOWN_MODELS.flatMap((model) => model.encoders.map((each) => withEncoder(model, each)));
  expect(offered.length).toBeGreaterThanOrEqual(KNOWN_MODELS.length);
  for (const { name, encoder, memoryBytes } of offered) {
    const measured = models.find(
      (each) => each.model === name && each.encoder === encoder && each.decoder === "int8",
    );
    expect([name, encoder, memoryBytes]).toEqual([
      name,
      encoder,
      Math.max(...Object.values(measured?.peakBytes ?? {})),
    ]);
  }
});

function weightBytes({ encoder, decoder, encoderBytes, decoderBytes }: MeasuredModel): number {
  return (
    weightBytesOf("encoder", WEIGHTS[encoder], encoderBytes) +
    weightBytesOf("decoder", WEIGHTS[decoder], decoderBytes)
  );
}

test("no measured model exceeds the memory limit of a speech process", () => {
  for (const measured of models) {
    const { model, encoder, decoder, peakBytes } = measured;
    const weights = weightBytes(measured);
    const largest = Math.max(0, ...Object.values(peakBytes));
    expect(largest, `${model} ${encoder} ${decoder}`).toBeLessThan(additionalBytes(threads, weights) + 250e6);
    expect(largest).toBeLessThan(LIMIT_BYTES + additionalBytes(threads, weights));
  }
});

test("the minimum of memory is enough for one utterance of a model that needs more than the smallest batch", () => {
  const large = models.filter(({ model }) => {
    const { decoderLayers, width } = DIMENSIONS[model]!;
    const lengths = { encoderFrames: ENCODER_FRAMES, maxTokens: MAX_TOKENS };
    const row = rowBytes({ decoderLayers, width, ...lengths, storedHeads: ALIGNMENT_HEADS });
    return row > MAX_BATCH_BYTES / 4;
  });
  const measured = large.filter(({ peakBytes }) => peakBytes[1] !== undefined);
  expect(measured.map(({ model }) => model)).toEqual(
    expect.arrayContaining(["whisper-medium", "whisper-large-v3"]),
  );
  for (const model of measured) {
    const request = { processes: 1, threads: 1, bundledBytes: 0, modelBytes: weightBytes(model) };
    const memory = {
      bytes: model.peakBytes[1]! + DECODER_BYTES,
      source: "the limit",
      reservedBytes: 0,
    };
    expect(() => fitParallelism(request, memory), model.model).toThrow("Transcription needs");
  }
});
