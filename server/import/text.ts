const MARK_LITTLE_ENDIAN = [0xff, 0xfe];

/** Text that MetaTrader saved as UTF-16 (it says so in its first two bytes) as UTF-8; anything else as it is. */
export async function* asUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | null | undefined;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (decoder === undefined)
      decoder = MARK_LITTLE_ENDIAN.every((byte, index) => chunk[index] === byte) ? new TextDecoder("utf-16le") : null;
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }), "utf8");
  }
}
