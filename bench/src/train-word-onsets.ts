import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { moonshinePaths } from "@subtext/speech/engines/moonshine/model-paths";
import { neighborhood } from "@subtext/speech/engines/moonshine/word-onsets";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { englishClips } from "./accuracy/clips.ts";
import { SAMPLE_RATE, Speaker } from "./accuracy/synthetic-speech.ts";

/**
 * Trains the logistic regression that `speech/src/engines/moonshine/word-onsets.ts` evaluates, on the calibration voices,
 * and writes its weights. Run it again if the model of the bundled engine changes.
 */
const FILE = join(import.meta.dirname, "../../speech/src/engines/moonshine/word-onset-weights.ts");
const CLIPS_PER_VOICE = 3;
const FRAME_SAMPLES = 384;
const FRAME_OFFSET = 256;
/** Strength of the L2 regularization for standardized states. With less, word starts of real speech are less accurate. */
const REGULARIZATION = 0.01;
const NEWTON_STEPS = 8;

interface Example {
  /** The encoder's states of a frame and its neighbors. */
  states: Float32Array;
  isWordStart: boolean;
}

const examples = await readExamples();
const { weights, bias } = logisticRegression(examples);
const scale = Math.max(...weights.map(Math.abs)) / 127;
const bytes = Int8Array.from(weights, (weight) => Math.round(weight / scale));
writeFileSync(
  FILE,
  `// Written by bench/src/train-word-onsets.ts.

export const ONSET_BIAS = ${bias.toPrecision(4)};
export const ONSET_SCALE = ${scale.toPrecision(4)};
/** Base64 of an 8-bit integer for each value of three states, in units of \`ONSET_SCALE\`. */
export const ONSET_WEIGHTS =
  "${Buffer.from(bytes.buffer).toString("base64")}";
`,
);
console.log(`Trained with ${examples.length} frames.`);

async function readExamples(): Promise<Example[]> {
  const encoder = await InferenceSession.create(moonshinePaths().encoderPath);
  const speakers = {
    espeak: new Speaker(join(tmpdir(), "subtext-accuracy")),
    flite: null,
    festival: null,
  };
  const found: Example[] = [];
  for (const { samples, words } of englishClips(speakers, "calibration", CLIPS_PER_VOICE)) {
    const { last_hidden_state: states } = await encoder.run({
      input_values: new Tensor("float32", samples, [1, samples.length]),
    });
    const [, frames = 0, width = 0] = states!.dims;
    const data = states!.data as Float32Array;
    const starts = new Set(
      words.flatMap(({ start }) =>
        start === null ? [] : [Math.floor((start * SAMPLE_RATE - FRAME_OFFSET) / FRAME_SAMPLES)],
      ),
    );
    for (let frame = 0; frame < frames; frame++) {
      found.push({
        states: neighborhood(data, width, frame),
        isWordStart: starts.has(frame),
      });
    }
  }
  await encoder.release();
  return found;
}

/** Maximizes the likelihood by Newton's method. */
function logisticRegression(rows: readonly Example[]): { weights: Float64Array; bias: number } {
  const width = rows[0]!.states.length;
  const { means, deviations } = momentsOf(rows);
  // The last parameter is the bias.
  const parameters = new Float64Array(width + 1);
  const input = new Float64Array(width + 1).fill(1);
  for (let step = 0; step < NEWTON_STEPS; step++) {
    const gradient = new Float64Array(width + 1);
    const hessian = Array.from({ length: width + 1 }, () => new Float64Array(width + 1));
    for (let index = 0; index < width; index++) {
      gradient[index] = REGULARIZATION * rows.length * parameters[index]!;
      hessian[index]![index] = REGULARIZATION * rows.length;
    }
    for (const { states, isWordStart } of rows) {
      for (let index = 0; index < width; index++) {
        input[index] = (states[index]! - means[index]!) / deviations[index]!;
      }
      const probability = 1 / (1 + Math.exp(-dot(parameters, input)));
      const curvature = probability * (1 - probability);
      for (let row = 0; row <= width; row++) {
        gradient[row] = gradient[row]! + (probability - Number(isWordStart)) * input[row]!;
        const factor = curvature * input[row]!;
        const target = hessian[row]!;
        for (let column = 0; column <= row; column++) {
          target[column] = target[column]! + factor * input[column]!;
        }
      }
    }
    const change = solveSymmetric(hessian, gradient);
    for (let index = 0; index <= width; index++) parameters[index] = parameters[index]! - change[index]!;
  }
  const weights = parameters.slice(0, width).map((value, index) => value / deviations[index]!);
  return { weights, bias: parameters[width]! - dot(weights, means) };
}

function momentsOf(rows: readonly Example[]): { means: Float64Array; deviations: Float64Array } {
  const width = rows[0]!.states.length;
  const means = new Float64Array(width);
  const squares = new Float64Array(width);
  for (const { states } of rows) {
    for (let index = 0; index < width; index++) {
      means[index] = means[index]! + states[index]! / rows.length;
      squares[index] = squares[index]! + states[index]! ** 2 / rows.length;
    }
  }
  return { means, deviations: squares.map((square, index) => Math.sqrt(square - means[index]! ** 2)) };
}

/** Solves a positive definite system by Cholesky decomposition, in place. Reads the lower triangle of the matrix. */
function solveSymmetric(matrix: readonly Float64Array[], right: Float64Array): Float64Array {
  const size = right.length;
  for (let row = 0; row < size; row++) {
    const values = matrix[row]!;
    for (let column = 0; column <= row; column++) {
      const other = matrix[column]!;
      const rest = values[column]! - dot(values.subarray(0, column), other);
      values[column] = column === row ? Math.sqrt(rest) : rest / other[column]!;
    }
    right[row] = (right[row]! - dot(values.subarray(0, row), right)) / values[row]!;
  }
  for (let row = size - 1; row >= 0; row--) {
    let rest = right[row]!;
    for (let below = row + 1; below < size; below++) rest -= matrix[below]![row]! * right[below]!;
    right[row] = rest / matrix[row]![row]!;
  }
  return right;
}

/** Ignores values of the second vector beyond the length of the first. */
function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!;
  return sum;
}
