import { signUp } from "#lib/access/users/sign-up";
import { SignUpForm } from "#lib/contract/portal";
import { portalRoute } from "#lib/portal/route";

/** Signs up; the answer does not reveal whether the address was taken. */
export const POST = portalRoute({ input: SignUpForm, user: "none" }, async ({ input, running, visitor }) => {
  await signUp(running.users, input, visitor);
  return {};
});
