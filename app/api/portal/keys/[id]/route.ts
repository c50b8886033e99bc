import { settingsOfForm, toPortalKey } from "#lib/access/key-json";
import { editKey } from "#lib/access/keys";
import { EditKeyForm } from "#lib/contract/portal";
import { changedBy } from "#lib/portal/changed-by";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** Changes the settings of a key. */
export const PATCH = portalRoute({ input: EditKeyForm, user: "required" }, async (call) => {
  const { input, params, running } = call;
  return { key: toPortalKey(await editKey(running, params.id ?? "", settingsOfForm(input), changedBy(call))) };
});

export const { DELETE, GET, HEAD, OPTIONS, POST, PUT } = otherMethods({ PATCH });
