import { crc32, deflateRawSync } from "node:zlib";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const DEFLATED = 8;

function header(signature: number, fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  const buffer = Buffer.alloc(4 + fields.reduce((sum, [bytes]) => sum + bytes, 0));
  buffer.writeUInt32LE(signature);
  let at = 4;
  for (const [bytes, value] of fields) at = bytes === 2 ? buffer.writeUInt16LE(value, at) : buffer.writeUInt32LE(value, at);
  return buffer;
}

/** A zip archive of these entries, deflated (APPNOTE 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16). */
export function zipOf(entries: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const raw = Buffer.from(content);
    const packed = deflateRawSync(raw);
    const common = [
      [2, 20],
      [2, 0],
      [2, DEFLATED],
      [4, 0],
      [4, crc32(raw)],
      [4, packed.length],
      [4, raw.length],
      [2, name.length],
      [2, 0],
    ] as const;
    const local = Buffer.concat([header(LOCAL, common), Buffer.from(name), packed]);
    centrals.push(header(CENTRAL, [[2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), Buffer.from(name));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const count = Object.keys(entries).length;
  const end = header(END, [
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, central.length],
    [4, offset],
    [2, 0],
  ]);
  return Buffer.concat([...locals, central, end]);
}
