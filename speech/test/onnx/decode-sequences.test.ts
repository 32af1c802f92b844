import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { lengthBeforeLoop } from "../../src/onnx/decode-sequences.ts";
import { asFloats, concatRows, floatsOf, floatTensor, selectRows } from "../../src/onnx/tensors.ts";
import { chooseToken, probabilitiesOf, seededRandom } from "../../src/onnx/token-selection.ts";

const manyLogits = fc
  .array(fc.double({ min: -60, max: 60, noNaN: true }), { minLength: 1, maxLength: 300 })
  .map((values) => Float32Array.from(values));

function softmax(logits: Float32Array): number[] {
  const highest = Math.max(...logits);
  const shares = [...logits].map((logit) => Math.exp(logit - highest));
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => share / sum);
}

describe("a token is chosen", () => {
  test("that is the most likely, with its probability among all", () => {
    fc.assert(
      fc.property(manyLogits, (logits) => {
        const { token, logProbability } = chooseToken(logits, null);
        expect(logits[token]).toBeCloseTo(Math.max(...logits), 10);
        expect(Math.exp(logProbability)).toBeCloseTo(softmax(logits)[token] ?? 0, 3);
        expect(probabilitiesOf(logits, [0])[0]).toBeCloseTo(softmax(logits)[0] ?? 0, 3);
      }),
    );
  });

  test("by chance as often as its temperature says", () => {
    const logits = Float32Array.from([0.7, 0.2, 0.1], Math.log);
    for (const temperature of [0.5, 1]) {
      const random = seededRandom(7);
      const drawn = [0, 0, 0];
      for (let i = 0; i < 20_000; i++) {
        const { token, logProbability } = chooseToken(logits, { temperature, random });
        drawn[token] = (drawn[token] ?? 0) + 1 / 20_000;
        expect(logProbability).toBeCloseTo(logits[token] ?? 0, 5);
      }
      const expected = softmax(logits.map((logit) => logit / temperature));
      for (const [token, share] of expected.entries()) expect(drawn[token]).toBeCloseTo(share, 1.5);
    }
  });

  test("never against a rule", () => {
    fc.assert(
      fc.property(
        manyLogits,
        fc.integer(),
        fc.double({ min: 0.2, max: 1, noNaN: true }),
        (logits, seed, temperature) => {
          const allowed = (seed >>> 0) % logits.length;
          const ruled = logits.map((logit, token) =>
            token % 2 === 0 || token === allowed ? logit : Number.NEGATIVE_INFINITY,
          );
          const { token } = chooseToken(ruled, { temperature, random: seededRandom(seed) });
          expect(ruled[token]).not.toBe(Number.NEGATIVE_INFINITY);
        },
      ),
    );
  });

  test.each([
    ["no numbers", [1, Number.NaN, 2]],
    ["no end", [1, Number.POSITIVE_INFINITY, 2]],
    ["no token that is allowed", [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]],
  ])("not where there are %s", (_, logits) => {
    expect(() => chooseToken(Float32Array.from(logits), null)).toThrow(SpeechError);
  });
});

test("a seed gives the same numbers again, all of them between 0 and 1", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const [one, other] = [seededRandom(seed), seededRandom(seed)];
      const numbers = Array.from({ length: 50 }, one);
      expect(Array.from({ length: 50 }, other)).toEqual(numbers);
      expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
      expect(new Set(numbers).size).toBeGreaterThan(45);
    }),
  );
});

describe.each(["float32", "float16"] as const)("rows of %s", (type) => {
  const tensor = floatTensor(
    type,
    Float32Array.from({ length: 24 }, (_, i) => i / 4),
    [4, 3, 2],
  );

  test("are selected in the requested order", () => {
    const rows = selectRows(tensor, [3, 1]);
    expect([rows.type, rows.dims]).toEqual([type, [2, 3, 2]]);
    expect([...floatsOf(rows)]).toEqual([18, 19, 20, 21, 22, 23, 6, 7, 8, 9, 10, 11].map((i) => i / 4));
  });

  test("are selected if they are empty", () => {
    expect(selectRows(floatTensor(type, new Float32Array(0), [4, 3, 0, 2]), [2]).dims).toEqual([1, 3, 0, 2]);
  });

  test("are put together as they were", () => {
    const rows = [0, 1, 2, 3].map((row) => selectRows(tensor, [row]));
    expect([...floatsOf(concatRows(rows))]).toEqual([...floatsOf(tensor)]);
  });

  test("come in the other precision if that is wanted", () => {
    for (const wanted of ["float32", "float16"] as const) {
      expect(asFloats(tensor, wanted).type).toBe(wanted);
      expect([...floatsOf(asFloats(tensor, wanted))]).toEqual([...floatsOf(tensor)]);
    }
  });
});

describe("a loop of tokens", () => {
  const sentence = [7, 8, 9, 10, 11, 12];
  const times = (count: number, phrase = sentence) => Array.from({ length: count }, () => phrase).flat();

  test("is a phrase that is said until the limit", () => {
    const said = [1, 2, ...times(5)];
    expect(lengthBeforeLoop(said, said.length)).toBe(8);
    expect(lengthBeforeLoop([1, 2, ...times(3)], 20)).toBeNull();
  });

  test("is not what people repeat, for they come to an end", () => {
    expect(lengthBeforeLoop(times(12), 100)).toBeNull();
    expect(lengthBeforeLoop(times(10, [5]), 100)).toBeNull();
    expect(lengthBeforeLoop(times(8, [5, 6]), 100)).toBeNull();
    const longSentence = Array.from({ length: 200 }, (_, index) => index % 60);
    expect(lengthBeforeLoop(longSentence, 200)).toBeNull();
  });

  test("ends before the limit where nobody could say so much, or a syllable so often", () => {
    expect(lengthBeforeLoop([1, ...times(26)], 448)).toBeNull();
    expect(lengthBeforeLoop([1, ...times(27)], 448)).toBe(7);
    expect(lengthBeforeLoop([1, ...times(24, [5])], 448)).toBe(2);
  });

  test("is found at any position, and its first occurrence remains", () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(tokens, tokens, (before, phrase) => {
        const said = [...before, ...times(16, phrase)];
        const length = lengthBeforeLoop(said, said.length);
        expect(length).not.toBeNull();
        expect(length).toBeLessThanOrEqual(before.length + phrase.length);
      }),
    );
  });
});
