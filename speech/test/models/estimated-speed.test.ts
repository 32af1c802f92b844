import fc from "fast-check";
import { expect, test } from "vitest";
import { knownModel, withEncoder } from "../../src/models/catalog.ts";
import {
  asInstalled,
  bundledTakesEnglish,
  type EncoderSpeed,
  estimateSpeed,
  isFastEnough,
  type KnownSpeeds,
  speedOf,
} from "../../src/models/estimated-speed.ts";
import type { Manifest } from "../../src/models/manifest.ts";
import { BENCHMARK_SPEED, MODEL_FIGURES } from "../../src/models/model-figures.ts";

const TINY = knownModel("whisper-tiny")!;
const SMALL = knownModel("whisper-small")!;

/** A machine that reaches this multiple of real time with `whisper-small`. */
function machineWith(speed: number): EncoderSpeed {
  const share = speed / MODEL_FIGURES["whisper-small"]!.int8!.speed;
  return { int8: share * BENCHMARK_SPEED.int8, fp32: share * BENCHMARK_SPEED.fp32 };
}

const estimated = (realTime: number): KnownSpeeds => ({ measured: null, machine: machineWith(realTime) });
const UNKNOWN: KnownSpeeds = { measured: null, machine: null };

test("the speed of a model is estimated in proportion to the machine of the benchmark", () => {
  expect(estimateSpeed(SMALL, machineWith(6))).toBeCloseTo(6);
  const { int8, fp32 } = BENCHMARK_SPEED;
  expect(estimateSpeed(withEncoder(SMALL, "fp32"), { int8, fp32: 2 * fp32 })).toBeCloseTo(
    2 * MODEL_FIGURES["whisper-small"]!.fp32!.speed,
  );
  expect(estimateSpeed({ ...SMALL, name: "whisper-mine" }, BENCHMARK_SPEED)).toBeNull();
});

test("by default, the model takes English if it reaches four times real time", () => {
  expect(bundledTakesEnglish(SMALL, "auto", estimated(4.1))).toBe(false);
  expect(bundledTakesEnglish(SMALL, "auto", estimated(3.9))).toBe(true);
});

test("the engine for English changes only when the speed has left the range from 3.5 to 4", () => {
  const speed = fc.double({ min: 2.5, max: 5, noNaN: true });
  fc.assert(
    fc.property(fc.array(speed, { minLength: 1 }), (speeds) => {
      let before = false;
      for (const realTime of speeds) {
        const isFast = isFastEnough(realTime, before);
        if (realTime >= 4) expect(isFast).toBe(true);
        else if (realTime < 3.5) expect(isFast).toBe(false);
        else expect(isFast).toBe(before);
        before = isFast;
      }
    }),
  );
});

test("the speed that transcriptions have reached counts instead of the estimate", () => {
  const machine = machineWith(6);
  expect(speedOf(SMALL, { measured: null, machine })).toEqual({
    realTime: expect.closeTo(6),
    isMeasured: false,
  });
  const measured = { realTime: 3, isFastEnough: false };
  expect(speedOf(SMALL, { measured, machine })).toEqual({ realTime: 3, isMeasured: true });
  expect(bundledTakesEnglish(SMALL, "auto", { measured, machine })).toBe(true);
  expect(speedOf(SMALL, UNKNOWN)).toBeNull();
});

test("a model whose speed is unknown takes English", () => {
  expect(bundledTakesEnglish(SMALL, "auto", UNKNOWN)).toBe(false);
  expect(bundledTakesEnglish(null, "auto", estimated(0.1))).toBe(false);
});

test("the priority of the settings counts more than the speed", () => {
  expect(bundledTakesEnglish(SMALL, "quality", estimated(0.1))).toBe(false);
  expect(bundledTakesEnglish(SMALL, "speed", estimated(100))).toBe(true);
  expect(bundledTakesEnglish(null, "speed", UNKNOWN)).toBe(true);
});

test("a model that is no better than the bundled engine never takes English", () => {
  expect(bundledTakesEnglish(TINY, "quality", estimated(100))).toBe(true);
});

test("the encoder of an installed model is that of its files", () => {
  const files = withEncoder(SMALL, "fp32").files.map((path) => ({ path }));
  expect(asInstalled(SMALL, { files } as Manifest).encoder).toBe("fp32");
  expect(asInstalled(SMALL, null).encoder).toBe("int8");
});
