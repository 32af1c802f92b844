import { SAMPLE_RATE } from "../media/audio.ts";
import type { ChannelPair } from "../media/channel-pair.ts";
import { FRAME_SAMPLES } from "./channel-levels.ts";

/** One array per channel, with a 1 for each frame that contains only leakage from the other channel, else 0. */
export type Leakage = readonly [Uint8Array, Uint8Array];

/** Duration of the fades into and out of a muted frame. */
const FADE_SAMPLES = SAMPLE_RATE / 100;

/** Mutes leakage. Otherwise it would be amplified like quiet speech, and its words would appear in both channels. */
export async function* muteLeakage(
  pairs: AsyncIterable<ChannelPair>,
  leakage: Leakage,
): AsyncGenerator<ChannelPair> {
  let position = 0;
  for await (const [first, second] of pairs) {
    yield [muted(first, leakage[0], position), muted(second, leakage[1], position)];
    position += first.length;
  }
}

/** @param position index of `samples[0]` in the recording */
function muted(samples: Float32Array, leakage: Uint8Array, position: number): Float32Array {
  const firstFrame = Math.floor(position / FRAME_SAMPLES);
  const endFrame = Math.ceil((position + samples.length) / FRAME_SAMPLES);
  if (!leakage.subarray(firstFrame, endFrame).includes(1)) return samples;
  const result = samples.slice();
  for (let frame = firstFrame; frame < endFrame; frame++) {
    if (leakage[frame] !== 1) continue;
    const from = frame * FRAME_SAMPLES;
    const [fadesIn, fadesOut] = [leakage[frame - 1] !== 1, leakage[frame + 1] !== 1];
    for (
      let at = Math.max(from, position);
      at < Math.min(from + FRAME_SAMPLES, position + samples.length);
      at++
    ) {
      const fadeIn = fadesIn ? 1 - (at - from) / FADE_SAMPLES : 0;
      const fadeOut = fadesOut ? 1 - (from + FRAME_SAMPLES - at) / FADE_SAMPLES : 0;
      result[at - position]! *= Math.max(0, fadeIn, fadeOut);
    }
  }
  return result;
}
