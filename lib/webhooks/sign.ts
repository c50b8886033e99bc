import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 24;

/** A new secret, in the form of Standard Webhooks. */
export function createSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

interface Signed {
  /** The same for all attempts. */
  readonly id: string;
  readonly body: string;
  readonly nowMs: number;
}

/** The headers of a message, signed as Standard Webhooks 1.0.0 says: HMAC-SHA256 over id, time and body. */
export function signatureHeaders(secret: string, { id, body, nowMs }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
