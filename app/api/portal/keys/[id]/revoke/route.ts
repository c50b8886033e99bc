import { toPortalKey } from "#lib/access/key-json";
import { findKeyRecord, revokeKey } from "#lib/access/keys";
import { RevokeKeyForm } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import { changedBy } from "#lib/portal/changed-by";
import { notifyOfKey } from "#lib/portal/key-notice";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Revokes a key after its name was typed again. */
export const POST = portalRoute({ input: RevokeKeyForm, user: "required" }, async (call) => {
  const { input, params, running } = call;
  const by = changedBy(call);
  const id = params.id ?? "";
  const { name, state } = await findKeyRecord(running, id, by);
  if (input.confirm.trim() !== name)
    throw new Fault("invalid_parameter", { parameter: "confirm", detail: "Type the key's name exactly as shown above." });
  const key = toPortalKey(await revokeKey(running, id, by));
  if (state !== "revoked") await notifyOfKey(call, name, "revoked");
  return { key };
});

export const { DELETE, GET, HEAD, OPTIONS, PATCH, PUT } = otherMethods({ POST });
