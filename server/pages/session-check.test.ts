import { encode, type JWT } from "next-auth/jwt";
import { expect, test } from "vitest";
import { createSessionCheck } from "#server/pages/sign-in/session-user";

const SECRET = "a secret of the installation";

test("a cookie is a signed-in reader's only when this service has signed it and its time is not over", async () => {
  const isSignedIn = createSessionCheck({ PUBLIC_URL: undefined }, SECRET);
  const cookie = async (secret: string, maxAge?: number, token: JWT = { sid: "a session" }) =>
    `theme=dark; spotwire.session=${await encode({ token, secret, ...(maxAge !== undefined && { maxAge }) })}`;
  const own = await cookie(SECRET);
  expect(await isSignedIn(own)).toBe(true);
  // Known from then on, without a promise.
  expect(isSignedIn(own)).toBe(true);
  for (const other of [
    "spotwire.session=whatever",
    await cookie("another secret"),
    await cookie(SECRET, -60),
    await cookie(SECRET, undefined, {}),
  ])
    expect(await isSignedIn(other)).toBe(false);
  for (const none of [undefined, "theme=dark", "spotwire.session="]) expect(isSignedIn(none)).toBe(false);
});
