import { importTool } from "./tools";

interface DuckDbPackage {
  readonly DuckDBInstance: {
    create(): Promise<{ connect(): Promise<Connection>; closeSync(): void }>;
  };
}
interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): Record<string, unknown>[] }>;
  closeSync(): void;
}

/** DuckDB in this process, a reader of Parquet that others wrote. */
interface DuckDb {
  /** The rows that a statement returns, with values of JavaScript. */
  ask(sql: string): Promise<Record<string, unknown>[]>;
  close(): void;
}

/** Opens a database in memory. */
export async function openDuckDb(): Promise<DuckDb> {
  const { DuckDBInstance } = await importTool<DuckDbPackage>("@duckdb/node-api");
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  return {
    ask: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJS(),
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
