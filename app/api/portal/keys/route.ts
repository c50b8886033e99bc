import { settingsOfForm, toPortalKey } from "#lib/access/key-json";
import { createKey, listKeys } from "#lib/access/keys";
import { CreateKeyForm } from "#lib/contract/portal";
import { changedBy } from "#lib/portal/changed-by";
import { notifyOfKey } from "#lib/portal/key-notice";
import { otherMethods } from "#lib/portal/methods";
import { portalRoute } from "#lib/portal/route";

/** The keys of the reader's account, newest first. */
export const GET = portalRoute({ user: "required" }, async ({ user, running }) => {
  const keys = await listKeys(running, { accountId: user.accountId });
  return { items: keys.map(toPortalKey) };
});

/** Creates a key; only this answer contains its text. */
export const POST = portalRoute({ input: CreateKeyForm, user: "required", proof: true }, async (call) => {
  const { input, user, running } = call;
  const settings = { ...settingsOfForm(input), accountId: user.accountId };
  const { text, record } = await createKey(running, settings, changedBy(call));
  await notifyOfKey(call, record.name, "created");
  return { text, key: toPortalKey(record) };
});

export const { DELETE, OPTIONS, PATCH, PUT } = otherMethods({ GET, POST });
