import { weightBytesOf } from "@subtext/speech/engines/whisper/graph-files";
import { KNOWN_MODELS, withEncoder } from "@subtext/speech/models/catalog";
import { additionalBytes } from "@subtext/speech/processes/memory";
import { expect, test } from "vitest";
import { readModelFigures } from "../bench/src/models/figures.ts";
import { SETTINGS } from "../server/src/config/settings.ts";

const { models, threads } = readModelFigures();
const LIMIT_BYTES = Number(SETTINGS.SPEECH_MEMORY_LIMIT_MB.default) * 1024 ** 2;
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

test("no measured model exceeds the memory limit of a speech process", () => {
  for (const { model, encoder, decoder, encoderBytes, decoderBytes, peakBytes } of models) {
    const weights =
      weightBytesOf("encoder", WEIGHTS[encoder], encoderBytes) +
      weightBytesOf("decoder", WEIGHTS[decoder], decoderBytes);
    const largest = Math.max(0, ...Object.values(peakBytes));
    expect(largest, `${model} ${encoder} ${decoder}`).toBeLessThan(additionalBytes(threads, weights) + 250e6);
    expect(largest).toBeLessThan(LIMIT_BYTES + additionalBytes(threads, weights));
  }
});
