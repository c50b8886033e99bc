import { readerAddress } from "#app/reader-address";
import { DAY_MS } from "#lib/units";
import { otherMethods } from "#server/pages/methods";
import { runningPortal } from "#server/pages/runtime";

/** How long what it says is good for. */
const VALID_DAYS = 180;

/** Whom to tell of a vulnerability (RFC 9116). */
export async function GET(): Promise<Response> {
  const running = runningPortal();
  const email = running?.env.SUPPORT_EMAIL;
  if (running === undefined || email === undefined)
    return new Response("The operator has not set SUPPORT_EMAIL, so there is nobody to write to.\n", { status: 404 });
  const today = Math.floor(running.clock.now() / DAY_MS) * DAY_MS;
  const lines = [
    `Contact: mailto:${email}`,
    `Expires: ${new Date(today + VALID_DAYS * DAY_MS).toISOString()}`,
    "Preferred-Languages: en",
    `Canonical: ${await readerAddress()}/.well-known/security.txt`,
  ];
  return new Response(`${lines.join("\n")}\n`, {
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "private, no-cache" },
  });
}

export const { DELETE, OPTIONS, PATCH, POST, PUT } = otherMethods({ GET });
