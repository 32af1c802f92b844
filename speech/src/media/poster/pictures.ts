import { SpeechError } from "../../errors.ts";

/** Maximum width and height. */
export const PICTURE_PIXELS = 320;
export const PICTURE_INTERVAL_SECONDS = 0.5;
/** The quantizer scale of the JPEG encoder, from 1 for the best quality to 31. */
export const PICTURE_QUANTIZER = 5;

const MAX_PICTURE_BYTES = 200_000;
const END = Buffer.from([0xff, 0xd9]);

export interface PictureFilter {
  name: string;
  options: string;
}

/** Scales a frame with its pixels made square, and converts it to the pixel format of JPEG. */
export function pictureFilters(): PictureFilter[] {
  const share = `min(1,${PICTURE_PIXELS}/max(iw*sar,ih))`;
  const even = (length: string) => `'max(2,2*trunc(${length}*${share}/2))'`;
  return [
    { name: "scale", options: `w=${even("iw*sar")}:h=${even("ih")}:flags=area` },
    { name: "setsar", options: "1" },
    { name: "format", options: "yuvj420p" },
  ];
}

/** Splits concatenated JPEG files of the encoder `mjpeg`, whose tables and data never contain the end marker. */
export async function* splitPictures(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let data: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    data = Buffer.concat([data, chunk]);
    for (let end = data.indexOf(END); end >= 0; end = data.indexOf(END)) {
      yield data.subarray(0, end + END.length);
      data = data.subarray(end + END.length);
    }
    if (data.length > MAX_PICTURE_BYTES) {
      throw new SpeechError("decoder_crashed", "The decoder's output is not a picture.");
    }
  }
}
