import { toPortalKey } from "#lib/access/key-json";
import { rotateKey } from "#lib/access/keys";
import { RotateKeyForm } from "#lib/contract/portal";
import { changedBy } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

/** Makes a key in the place of another, which stays valid for the grace; the new text is in this one answer. */
export const POST = portalRoute({ input: RotateKeyForm, user: "required" }, async (call) => {
  const { input, params, running } = call;
  const { text, record, replaced } = await rotateKey(running, params.id ?? "", input.grace, changedBy(call));
  return { text, key: toPortalKey(record), replaced: toPortalKey(replaced) };
});
