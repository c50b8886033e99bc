import { toPortalKey } from "#lib/access/key-json";
import { rotateKey } from "#lib/access/keys";
import { RotateKeyForm } from "#lib/contract/portal";
import { changedBy } from "#lib/portal/changed-by";
import { notifyOfKey } from "#lib/portal/key-notice";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Replaces a key, which stays valid for the grace period; only this answer contains the new text. */
export const POST = portalRoute({ input: RotateKeyForm, user: "required", proof: true }, async (call) => {
  const { input, params, running } = call;
  const { text, record, replaced } = await rotateKey(running, params.id ?? "", input.grace, changedBy(call));
  await notifyOfKey(call, record.name, "rotated");
  return { text, key: toPortalKey(record), replaced: toPortalKey(replaced) };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
