import { Readable } from "node:stream";
import { Decrypter, Encrypter } from "age-encryption";
import { BackupError, damaged } from "./format";

/*
 * With a passphrase, a backup is a file of the age format (https://age-encryption.org/v1) around the compressed text, which `age -d`
 * opens too. It needs no seal: each chunk is authenticated, and so is the last one.
 */

/** The first bytes of a file of the age format. */
export const AGE_MAGIC = "age-encryption.org/v1\n";

/** The stream, encrypted. */
export async function* encrypted(passphrase: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  yield* Readable.fromWeb((await encrypter.encrypt(Readable.toWeb(Readable.from(bytes)) as ReadableStream<Uint8Array>)) as never);
}

/**
 * The content of an encrypted file, once its passphrase is known to be right.
 * @throws BackupError for another passphrase; while it is read, for a file that was changed or cut
 */
export async function decrypted(passphrase: string, bytes: Readable, file: string): Promise<AsyncIterable<Uint8Array>> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const content = await decrypter.decrypt(Readable.toWeb(bytes) as ReadableStream<Uint8Array>).catch(() => {
    bytes.destroy();
    throw new BackupError(`${file} was encrypted with another passphrase, or its beginning is damaged. Nothing was changed.`);
  });
  return (async function* () {
    try {
      yield* Readable.fromWeb(content as never);
    } catch (error) {
      throw damaged((error as Error).message);
    }
  })();
}
