import type { ChannelPair } from "../media/channel-pair.ts";

/**
 * Returns the channels as two streams. Chunks that one consumer has read and the other has not are buffered, so the
 * consumers should advance together. The streams do not close the source.
 */
export function splitChannels(
  source: AsyncIterator<ChannelPair>,
): readonly [AsyncGenerator<Float32Array>, AsyncGenerator<Float32Array>] {
  const buffers: [Float32Array[], Float32Array[]] = [[], []];
  let reading: Promise<boolean> | null = null;
  const read = async () => {
    const { done, value } = await source.next();
    if (done) return false;
    for (const [index, samples] of value.entries()) buffers[index]!.push(samples);
    return true;
  };
  async function* stream(buffer: Float32Array[]): AsyncGenerator<Float32Array> {
    for (;;) {
      while (buffer.length > 0) yield buffer.shift()!;
      reading ??= read().finally(() => {
        reading = null;
      });
      if (!(await reading) && buffer.length === 0) return;
    }
  }
  return [stream(buffers[0]), stream(buffers[1])];
}
