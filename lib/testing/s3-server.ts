import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Bucket } from "#lib/env-history";
import { importTool } from "./tools";

interface Options {
  readonly port: number;
  readonly address: string;
  readonly silent: boolean;
  readonly directory: string;
  readonly configureBuckets: readonly { readonly name: string }[];
}
interface S3rver {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}

/** What s3rver accepts. */
export const S3_CREDENTIALS = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };

/** An S3 server with one bucket, on this machine. */
export interface S3Server {
  readonly place: Bucket;
  /** Replaces the bytes of an object behind the back of the server. */
  overwrite(name: string, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const { default: S3rver } = await importTool<{ default: new (options: Options) => S3rver }>("s3rver");
  const [directory, bucket, prefix] = [await mkdtemp(path.join(tmpdir(), "spotwire-s3-")), "klines", "history/main/"];
  const server = new S3rver({ port: 0, address: "127.0.0.1", silent: true, directory, configureBuckets: [{ name: bucket }] });
  const { port } = await server.run();
  return {
    place: { kind: "bucket", address: `http://127.0.0.1:${port}/${bucket}`, bucket, prefix, region: "us-east-1" },
    overwrite: (name, bytes) => writeFile(path.join(directory, bucket, `${prefix}${name}._S3rver_object`), bytes),
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
