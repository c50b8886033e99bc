import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { Transform } from "node:stream";
import { derivedKey } from "#lib/access/signed-token";
import { BackupError } from "./format";

/*
 * After the compressed text a backup has a seal: the mark and, in hex, the HMAC-SHA-256 of everything before it, by a key
 * derived from the installation's secret. gunzip ignores it.
 */
const MARK = "\nspotwire hmac-sha256 ";
const DIGEST_CHARACTERS = 64;
/** Length of a seal. */
export const SEAL_BYTES = MARK.length + DIGEST_CHARACTERS + 1;
const SEAL = new RegExp(`^${MARK}([0-9a-f]{${DIGEST_CHARACTERS}})\n$`);

const hmacOf = (secret: string) => createHmac("sha256", derivedKey(secret, "backup"));

/** Lets bytes through and adds the seal at the end. */
export function createSealer(secret: string): Transform {
  const hmac = hmacOf(secret);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      hmac.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(null, `${MARK}${hmac.digest("hex")}\n`);
    },
  });
}

/** A sealed file: where its content ends, and what its digest must be. */
interface Sealed {
  readonly contentBytes: number;
  readonly digest: Buffer;
}

/** The seal at the end of a file; undefined when there is none. */
async function readSeal(handle: FileHandle): Promise<Sealed | undefined> {
  const { size } = await handle.stat();
  const contentBytes = size - SEAL_BYTES;
  if (contentBytes < 0) return undefined;
  const { buffer } = await handle.read(Buffer.alloc(SEAL_BYTES), 0, SEAL_BYTES, contentBytes);
  const digest = SEAL.exec(buffer.toString("latin1"))?.[1];
  return digest === undefined ? undefined : { contentBytes, digest: Buffer.from(digest, "hex") };
}

const matches = (hmac: Hmac, { digest }: Sealed) => timingSafeEqual(hmac.digest(), digest);

/** Lets the content of a sealed file through, and fails at its end when it is not what was sealed. */
export function createSealCheck(secret: string, seal: Sealed, failure: () => Error): Transform {
  const hmac = hmacOf(secret);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      hmac.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(matches(hmac, seal) ? null : failure());
    },
  });
}

const HINT = "Use --unverified to restore it anyway, if you trust where it comes from.";

/**
 * Reads the whole file, with a chunk in memory, and compares it with its seal.
 * @param secret the secret of this installation; undefined when it has none
 * @throws BackupError when the file has no seal, or was not sealed as it is with this secret
 */
export async function requireSeal(file: string, secret: string | undefined): Promise<{ seal: Sealed; secret: string }> {
  const handle = await open(file, "r");
  const seal = await readSeal(handle).finally(() => handle.close());
  if (seal === undefined)
    throw new BackupError(
      `${file} has no seal: it is truncated or changed, or an earlier version made it. Nothing was changed. ${HINT}`,
    );
  if (secret === undefined)
    throw new BackupError(
      `${file} cannot be verified without the secret of the installation that made it: set NEXTAUTH_SECRET, or put nextauth-secret into DATA_DIR. Nothing was changed. ${HINT}`,
    );
  const hmac = hmacOf(secret);
  for await (const chunk of createReadStream(file, { end: seal.contentBytes - 1 })) hmac.update(chunk as Buffer);
  if (!matches(hmac, seal))
    throw new BackupError(
      `${file} was changed, or made with another NEXTAUTH_SECRET (nextauth-secret in DATA_DIR). Nothing was changed. ${HINT}`,
    );
  return { seal, secret };
}

/** The length of the content of a file that is not verified: without its seal, when it has one. */
export async function contentBytesOf(handle: FileHandle): Promise<number> {
  return (await readSeal(handle))?.contentBytes ?? (await handle.stat()).size;
}
