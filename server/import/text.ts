const MARK_LITTLE_ENDIAN = [0xff, 0xfe];

/** Converts UTF-16 text, as MetaTrader saves it with a byte order mark, to UTF-8; passes anything else through. */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | null | undefined;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (decoder === undefined)
      decoder = MARK_LITTLE_ENDIAN.every((byte, index) => chunk[index] === byte) ? new TextDecoder("utf-16le") : null;
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }), "utf8");
  }
}
