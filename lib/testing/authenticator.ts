import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";
import type { NewPasskey, UsedPasskey } from "#lib/contract/second-factor";

/** Bits of the authenticator data (WebAuthn, 6.1): somebody was there, was verified, and a key pair is attached. */
const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 } as const;
/** A COSE key: type EC2, algorithm ES256, curve P-256 (RFC 9053, 7.1). */
const COSE = { type: [1, 2], algorithm: [3, -7], curve: [-1, 1], x: -2, y: -3 } as const;
const AAGUID_BYTES = 16;

interface Circumstances {
  readonly challenge: string;
  readonly origin: string;
  /** False for an authenticator that did not ask for a PIN or a biometric. */
  readonly verified?: boolean;
  /** Signatures so far. */
  readonly counter?: number;
}

/** An authenticator in software that holds one passkey, for the user that `make` was given. */
export interface Authenticator {
  make(at: Circumstances & { readonly userId: string }): NewPasskey;
  use(at: Circumstances): UsedPasskey;
}

const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const hash = (data: string | Uint8Array) => createHash("sha256").update(data).digest();

/** Makes it. */
export function createAuthenticator(): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const credentialId = randomBytes(32);
  const id = encode(credentialId);
  let handle = "";

  function data({ origin, verified = true, counter = 0 }: Circumstances, attested: Uint8Array = new Uint8Array()): Buffer {
    const flags = FLAGS.present | (verified ? FLAGS.verified : 0) | (attested.length > 0 ? FLAGS.attested : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([hash(new URL(origin).hostname), Buffer.from([flags]), count, attested]);
  }
  const client = (type: string, { challenge, origin }: Circumstances) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  return {
    make(at) {
      handle = encode(Buffer.from(at.userId));
      const key = new Map<number, number | Uint8Array>([COSE.type, COSE.algorithm, COSE.curve]);
      key.set(COSE.x, new Uint8Array(Buffer.from(x, "base64url"))).set(COSE.y, new Uint8Array(Buffer.from(y, "base64url")));
      const length = Buffer.from([0, credentialId.length]);
      const attested = Buffer.concat([Buffer.alloc(AAGUID_BYTES), length, credentialId, isoCBOR.encode(key)]);
      const attestation = new Map<string, unknown>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", new Uint8Array(data(at, attested))],
      ]);
      const attestationObject = encode(isoCBOR.encode(attestation as never));
      const clientDataJSON = encode(client("webauthn.create", at));
      return { id, rawId: id, type: "public-key", response: { clientDataJSON, attestationObject, transports: ["internal"] } };
    },
    use(at) {
      const authenticatorData = data(at);
      const clientData = client("webauthn.get", at);
      const signature = sign("sha256", Buffer.concat([authenticatorData, hash(clientData)]), privateKey);
      const response = {
        clientDataJSON: encode(clientData),
        authenticatorData: encode(authenticatorData),
        signature: encode(signature),
        userHandle: handle,
      };
      return { id, rawId: id, type: "public-key", response };
    },
  };
}
