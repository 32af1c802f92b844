import { crc32, inflateRawSync } from "node:zlib";

/** Reads the files of a ZIP archive from its central directory, and checks their sizes and checksums. */
export function readZip(zip: Buffer): Map<string, string> {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end === -1) throw new Error("The archive has no end.");
  const files = new Map<string, string>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error("The central directory is damaged.");
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      zip.readUInt16LE(at + offset),
    );
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength!);
    const header = zip.readUInt32LE(at + 42);
    const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
    const compressed = zip.subarray(start, start + zip.readUInt32LE(at + 20));
    const content = zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(compressed) : compressed;
    if (content.length !== zip.readUInt32LE(at + 24)) throw new Error(`The size of ${name} is wrong.`);
    if (crc32(content) !== zip.readUInt32LE(at + 16)) throw new Error(`The checksum of ${name} is wrong.`);
    if (files.has(name)) throw new Error(`There are two files ${name}.`);
    files.set(name, content.toString());
    at += 46 + nameLength! + extraLength! + commentLength!;
  }
  return files;
}
