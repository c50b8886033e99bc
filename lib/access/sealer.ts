import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts what has to be read again, so that a copy of the database does not give it away. */
export interface Sealer {
  /** Encrypts a text for one owner: it opens for nobody else. */
  seal(text: string, owner: string): Uint8Array<ArrayBuffer>;
  /** The text again; undefined when it was sealed with another secret, for another owner, or was changed. */
  open(sealed: Uint8Array, owner: string): string | undefined;
}

/** AES-256-GCM with a key derived from the installation's secret for this purpose (RFC 5869). Layout: nonce, text, tag. */
export function createSealer(secret: string, purpose: string): Sealer {
  const key = Buffer.from(hkdfSync("sha256", secret, "", `spotwire ${purpose}`, KEY_BYTES));
  return {
    seal(text, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(owner));
      return new Uint8Array(Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]));
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed);
      const end = bytes.length - TAG_BYTES;
      if (end < NONCE_BYTES) return undefined;
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(end));
        return decipher.update(bytes.subarray(NONCE_BYTES, end), undefined, "utf8") + decipher.final("utf8");
      } catch {
        return undefined;
      }
    },
  };
}
