import { type KnownModel, withEncoder } from "../models/catalog.ts";
import type { EncoderSpeed } from "../models/estimated-speed.ts";
import { PRECISIONS, type Precision } from "../models/precision.ts";
import type { EncoderChooser } from "../models/store.ts";
import { type MemoryLimit, readMemoryLimit } from "./memory-limit.ts";

/** `auto` measures the machine. */
export type EncoderChoice = "auto" | Precision;
export const ENCODER_CHOICES: readonly [EncoderChoice, ...EncoderChoice[]] = ["auto", ...PRECISIONS];

/** Single precision is more accurate, so it may be slower by a fifth. */
const MIN_SHARE_OF_SPEED = 0.8;
/** Memory for the service, the decoder of a recording and the system. */
const OTHER_BYTES = 1_000_000_000;

/** Returns the choice in the form that `ModelStore.install` expects. */
export function chosenEncoder(
  choice: EncoderChoice,
  measure: () => Promise<EncoderSpeed | null>,
): Precision | EncoderChooser {
  if (choice !== "auto") return choice;
  return async (model) => {
    const speed = await measure();
    return speed === null ? "int8" : preferredEncoder(model, speed, readMemoryLimit());
  };
}

/** Half precision is never preferred, because CPUs convert it to single precision. */
export function preferredEncoder(
  model: KnownModel,
  { int8, fp32 }: EncoderSpeed,
  memory: MemoryLimit | null,
): Precision {
  const { memoryBytes } = withEncoder(model, "fp32");
  const fits = memory === null || memoryBytes + OTHER_BYTES <= memory.bytes;
  return model.encoders.includes("fp32") && fits && fp32 >= MIN_SHARE_OF_SPEED * int8 ? "fp32" : "int8";
}
