import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";

/** Text before a block that its compression may refer to: 2 to the power of WINDOW_BITS. More hardly makes rows smaller. */
const WINDOW_BITS = 12;
const TAIL_BYTES = 2 ** WINDOW_BITS;
/** Little memory to set up for each block, because most are short. */
const COMPRESSION = { finishFlush: constants.Z_SYNC_FLUSH, windowBits: WINDOW_BITS, memLevel: 5 };
/** Magic number, deflate, no flags, no time, unknown system (RFC 1952). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block (RFC 1951). */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);
const NOTHING = Buffer.alloc(0);

const compress = promisify<Buffer, object, Buffer>(deflateRaw);

/** A compressed block, which belongs to the member once it is stored. */
interface Block {
  readonly bytes: Buffer;
  stored(): void;
}

/** A gzip member that grows block by block. Everything before the end of a block can be read, even if the member never ends. */
export interface GzipMember {
  /** Compresses text as the next block; one at a time. */
  block(text: Buffer): Promise<Block>;
  /** What ends the member; empty if it has no block. */
  end(): Buffer;
}

/**
 * Makes an empty member. Unlike a stream of zlib it holds only the end of its text, so hundreds can be open, and a block that could
 * not be stored leaves no trace in it.
 */
export function createGzipMember(): GzipMember {
  let sum = 0;
  let size = 0;
  let tail = NOTHING;
  return {
    async block(text) {
      const packed = await compress(text, { ...COMPRESSION, ...(tail.length > 0 && { dictionary: tail }) });
      return {
        bytes: size === 0 ? Buffer.concat([HEADER, packed]) : packed,
        stored() {
          sum = crc32(text, sum);
          size += text.length;
          // A copy, so that the memory of longer texts is freed.
          tail = Buffer.from(Buffer.concat([tail, text]).subarray(-TAIL_BYTES));
        },
      };
    },
    end() {
      if (size === 0) return NOTHING;
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(sum, 0);
      trailer.writeUInt32LE(size % 2 ** 32, 4);
      return Buffer.concat([LAST_BLOCK, trailer]);
    },
  };
}
