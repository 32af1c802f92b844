/** Number of bytes that `mediaType` needs. */
export const MEDIA_TYPE_BYTES = 512;

/**
 * Detects the media type of a recording from its first bytes. Returns null if it is unknown. Browsers do not execute
 * any of the returned types.
 */
export function mediaType(first: Buffer): string | null {
  if (first.length < 12) return null;
  const text = (start: number, end: number) => first.toString("latin1", start, end);
  if (text(4, 8) === "ftyp") return typeOfBrand(text(8, 12));
  // Older QuickTime files have no brand.
  if (["moov", "mdat", "wide", "free", "skip"].includes(text(4, 8))) return "video/quicktime";
  if (first.readUInt32BE(0) === 0x1a45dfa3) {
    return text(0, 64).includes("\x42\x82\x84webm") ? "video/webm" : "video/x-matroska";
  }
  if (text(0, 4) === "RIFF" || text(0, 4) === "RF64") {
    if (text(8, 12) === "WAVE") return "audio/wav";
    return text(8, 12) === "AVI " ? "video/x-msvideo" : null;
  }
  if (text(0, 4) === "OggS") {
    // An Ogg file with video starts with a page of the video stream.
    return /OpusHead|vorbis|Speex|FLAC/.test(text(0, 64)) ? "audio/ogg" : "video/ogg";
  }
  if (text(0, 4) === "fLaC") return "audio/flac";
  if (text(0, 3) === "ID3") return "audio/mpeg";
  if (isTransportStream(first)) return "video/mp2t";
  return typeOfAudioFrame(first);
}

function typeOfBrand(brand: string): string {
  if (brand === "qt  ") return "video/quicktime";
  if (/^M4[AB] $/.test(brand)) return "audio/mp4";
  return brand.startsWith("3g") ? "video/3gpp" : "video/mp4";
}

/** Checks for MPEG-TS, which has packets of 188 bytes. In some files, a 4-byte timestamp precedes each packet. */
function isTransportStream(first: Buffer): boolean {
  return [
    [0, 188],
    [4, 192],
  ].some(
    ([at, step]) => first[at!] === 0x47 && first[at! + step!] === 0x47 && first[at! + 2 * step!] === 0x47,
  );
}

/** Detects MPEG audio and AAC, which start with a frame header. */
function typeOfAudioFrame(first: Buffer): string | null {
  const [sync, second, third] = [first[0]!, first[1]!, first[2]!];
  if (sync !== 0xff) return null;
  if ((second & 0xf6) === 0xf0) return ((third >> 2) & 0xf) < 13 ? "audio/aac" : null;
  const [version, layer] = [(second >> 3) & 3, (second >> 1) & 3];
  const [bitrate, sampleRate] = [third >> 4, (third >> 2) & 3];
  // Layer I is obsolete, and its header looks like a UTF-16 byte order mark.
  const valid =
    (second & 0xe0) === 0xe0 &&
    version !== 1 &&
    (layer === 1 || layer === 2) &&
    bitrate !== 15 &&
    sampleRate !== 3;
  return valid ? "audio/mpeg" : null;
}
