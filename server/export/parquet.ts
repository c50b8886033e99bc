import type { FileHandle } from "node:fs/promises";
import { ByteWriter, type ColumnSource, parquetWriteRows } from "hyparquet-writer";
import type { Kline } from "#lib/domain/kline";
import { EXPORT_COLUMNS } from "#server/import/formats/spotwire";

/** Rows of a row group: what is in memory at once. */
const GROUP_ROWS = 20_000;

type Column = (typeof EXPORT_COLUMNS)[number];

const TYPES: Readonly<Partial<Record<Column, ColumnSource["type"]>>> = {
  ticker: "STRING",
  timeframe: "STRING",
  time: "TIMESTAMP",
};
/** Unknown where no source has one. */
const NULLABLE: readonly Column[] = ["real_volume", "spread"];

/** Writes what was collected to a file after each row group, so that memory does not grow with the file. */
class FileBytes extends ByteWriter {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    super();
    this.#handle = handle;
  }

  async flush(): Promise<void> {
    await this.#handle.writeFile(new Uint8Array(this.buffer, 0, this.index));
    this.index = 0;
  }

  override async finish(): Promise<void> {
    await this.flush();
    await this.#handle.sync();
  }
}

async function* rowsOf(pages: AsyncIterable<readonly Kline[]>): AsyncGenerator<Record<string, unknown>> {
  for await (const page of pages) for (const kline of page) yield { ...kline, time: new Date(kline.time * 1_000) };
}

/** Writes klines as a Parquet file: times are UTC timestamps, prices and volumes doubles, what is unknown is null. */
export async function writeParquet(handle: FileHandle, pages: AsyncIterable<readonly Kline[]>): Promise<void> {
  await parquetWriteRows({
    writer: new FileBytes(handle),
    rows: rowsOf(pages),
    columns: EXPORT_COLUMNS.map((name) => ({ name, type: TYPES[name] ?? "DOUBLE", nullable: NULLABLE.includes(name) })),
    rowGroupSize: GROUP_ROWS,
    createdBy: "Spotwire",
  });
}
