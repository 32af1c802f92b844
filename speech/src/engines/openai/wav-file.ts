import { SAMPLE_RATE } from "../../media/audio.ts";

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;

export function wavFileBytes(samples: number): number {
  return HEADER_BYTES + BYTES_PER_SAMPLE * samples;
}

/**
 * Creates a 16-bit mono WAV file, the only format that every transcription server reads without ffmpeg.
 * @param samples at 16 kHz; values outside −1 … 1 are clipped
 */
export function wavFile(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(wavFileBytes(samples.length));
  const view = new DataView(file.buffer);
  const text = (at: number, letters: string) => file.set(new TextEncoder().encode(letters), at);
  text(0, "RIFF");
  view.setUint32(4, file.length - 8, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true);
  view.setUint32(24, SAMPLE_RATE, true);
  view.setUint32(28, SAMPLE_RATE * BYTES_PER_SAMPLE, true);
  view.setUint16(32, BYTES_PER_SAMPLE, true);
  view.setUint16(34, 8 * BYTES_PER_SAMPLE, true);
  text(36, "data");
  view.setUint32(40, BYTES_PER_SAMPLE * samples.length, true);
  for (const [index, sample] of samples.entries()) {
    const level = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767);
    view.setInt16(HEADER_BYTES + BYTES_PER_SAMPLE * index, level, true);
  }
  return file;
}
