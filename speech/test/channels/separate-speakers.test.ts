import { describe, expect, test } from "vitest";
import { ChannelLevels } from "../../src/channels/channel-levels.ts";
import { compareActivity, findLeakage, highestCorrelation } from "../../src/channels/compare-channels.ts";
import { muteLeakage } from "../../src/channels/mute-leakage.ts";
import { haveOneSpeakerEach } from "../../src/channels/separate-speakers.ts";
import { splitChannels } from "../../src/decode-utterances.ts";
import type { ChannelPair } from "../../src/media/channel-pair.ts";
import { delayed, mixed, raised, twoChannelCall, whiteNoise } from "../support/calls.ts";
import { ENGLISH, spoken } from "../support/spoken.ts";
import { sequence } from "../support/wav.ts";

function levelsOf(pair: ChannelPair) {
  const levels = new ChannelLevels();
  levels.add(pair);
  return levels.levels();
}

const call = twoChannelCall();
const [first, second] = call;
const silence = new Float32Array(first.length);
const whole = mixed(first, second);
/** Another speaker who never waits for the first one. */
const other = sequence(...ENGLISH.slice(4, 8).flatMap((name) => [spoken(name).samples, 0.2])).slice(
  0,
  first.length,
);

/** Chords whose notes are panned across the whole width. */
function music(): ChannelPair {
  const left = new Float32Array(first.length);
  const right = new Float32Array(first.length);
  for (const [voice, hertz] of [110, 165, 220, 277, 330, 440].entries()) {
    const noteSamples = 3200 + 1700 * voice;
    for (let at = 0; at < left.length; at++) {
      const note = Math.floor(at / noteSamples);
      const decay = Math.exp((-2 * (at % noteSamples)) / noteSamples);
      const sample = 0.1 * decay * Math.sin((2 * Math.PI * hertz * (1 + (note % 5) / 4) * at) / 16_000);
      left[at]! += (sample * voice) / 5;
      right[at]! += sample * (1 - voice / 5);
    }
  }
  return [left, right];
}

describe("the channels of a call have one speaker each", () => {
  const leaking = (decibels: number, milliseconds: number): ChannelPair => [
    mixed(first, delayed(raised(second, decibels), milliseconds)),
    mixed(second, delayed(raised(first, decibels), milliseconds)),
  ];
  const calls: Record<string, ChannelPair> = {
    plain: call,
    "with interruptions": twoChannelCall({ pauseSeconds: -0.7 }),
    "with noise on the line": [
      mixed(first, whiteNoise(first.length, -50)),
      mixed(second, whiteNoise(first.length, -50)),
    ],
    "with leakage": leaking(-20, 3),
    "with a delayed echo of the other speaker": leaking(-20, 150),
    "with one quiet speaker": [first, raised(second, -25)],
    "with one quiet speaker and leakage": [
      mixed(first, raised(second, -32)),
      mixed(raised(second, -12), raised(first, -20)),
    ],
  };
  test.each(Object.entries(calls))("%s", (_, pair) => {
    expect(haveOneSpeakerEach(levelsOf(pair))).toBe(true);
  });
});

describe("the channels of ordinary stereo do not", () => {
  const ordinary: Record<string, ChannelPair> = {
    "the same sound": [whole, whole],
    "reversed polarity": [whole, raised(whole, 0).map((sample) => -sample)],
    "the same sound at another level": [whole, raised(whole, -20)],
    "the same sound, delayed by 20 ms": [whole, delayed(whole, 20)],
    "the same sound, delayed by a second": [whole, delayed(whole, 1000)],
    "a stereo microphone between two speakers": [
      mixed(first, delayed(raised(second, -6), 0.5)),
      mixed(second, delayed(raised(first, -6), 0.5)),
    ],
    "one silent channel": [whole, silence],
    "one channel with noise": [whole, whiteNoise(whole.length, -45)],
    "one channel with leakage alone": [whole, mixed(raised(whole, -20), whiteNoise(whole.length, -70))],
    "two channels with noise": [whiteNoise(whole.length, -30), whiteNoise(whole.length, -30)],
    music: music(),
    "speech beside music": [whole, music()[0]],
    "two speakers who do not listen to each other": [first.map((sample, at) => sample + second[at]!), other],
    silence: [silence, silence],
  };
  test.each(Object.entries(ordinary))("%s", (_, pair) => {
    expect(haveOneSpeakerEach(levelsOf(pair))).toBe(false);
  });
});

test("calls and ordinary stereo are far from the limits", () => {
  const plain = levelsOf(call);
  expect(compareActivity(plain).overlapShare).toBeLessThan(0.1);
  expect(highestCorrelation(plain)).toBeLessThan(0.2);
  expect(compareActivity(levelsOf(music())).overlapShare).toBeGreaterThan(0.8);
  expect(highestCorrelation(levelsOf([whole, delayed(whole, 1000)]))).toBeGreaterThan(0.8);
});

test("leakage is muted wherever the other speaker speaks, and speech is not", async () => {
  const pair: ChannelPair = [mixed(first, raised(second, -20)), mixed(second, raised(first, -20))];
  const chunks = async function* (): AsyncGenerator<ChannelPair> {
    for (let at = 0; at < first.length; at += 16_000)
      yield [pair[0].slice(at, at + 16_000), pair[1].slice(at, at + 16_000)];
  };
  const [left, right] = splitChannels(muteLeakage(chunks(), findLeakage(levelsOf(pair))));
  const energyWhere = (samples: Float32Array, speaker: Float32Array) =>
    samples.reduce((sum, sample, at) => sum + (speaker[at] === 0 ? 0 : sample ** 2), 0);
  const muted = sequence(...(await Array.fromAsync(left)));
  expect(sequence(...(await Array.fromAsync(right)))).toHaveLength(first.length);
  expect(muted).toHaveLength(first.length);
  expect(energyWhere(muted, second)).toBeLessThan(0.01 * energyWhere(pair[0], second));
  expect(energyWhere(muted, first)).toBeGreaterThan(0.99 * energyWhere(pair[0], first));
});
