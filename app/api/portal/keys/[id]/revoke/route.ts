import { toPortalKey } from "#lib/access/key-json";
import { findKeyRecord, revokeKey } from "#lib/access/keys";
import { RevokeKeyForm } from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import { changedBy } from "#lib/portal/changed-by";
import { portalRoute } from "#lib/portal/route";

/** Revokes a key after its name was typed again. */
export const POST = portalRoute({ input: RevokeKeyForm, user: "required" }, async (call) => {
  const { input, params, running } = call;
  const by = changedBy(call);
  const id = params.id ?? "";
  const { name } = await findKeyRecord(running, id, by);
  if (input.confirm.trim() !== name)
    throw new Fault("invalid_parameter", { parameter: "confirm", detail: "Type the key's name exactly as shown above." });
  return { key: toPortalKey(await revokeKey(running, id, by)) };
});
