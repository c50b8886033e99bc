import type { z } from "zod";
import { clientBlock } from "#lib/access/address";
import { settingsOfForm, toPortalKey } from "#lib/access/key-json";
import {
  CreateKeyForm,
  EditKeyForm,
  type PortalKey,
  type PortalUser,
  RevokeKeyForm,
  RotateKeyForm,
  TokenForm,
} from "#lib/contract/portal";
import { Fault } from "#lib/fault";
import { type KeyChangeWord, keyMail } from "#lib/mail/security-messages";
import { changedBy } from "#server/pages/audit";
import { shownKeys } from "#server/pages/own-keys";
import { portalRoute } from "#server/pages/route";
import type { PortalRuntime } from "#server/pages/runtime";
import { ownOrigin } from "#server/pages/visitor";
import type { ChangedBy } from "#server/store/access/audit";
import { issueLivePageToken, issuePageToken, issuePortalToken } from "#server/store/access/issue-portal-token";
import { createKey, editKey, findKeyRecord, revokeKey, revokeReplaced, rotateKey } from "#server/store/access/keys";
import { keyUse } from "#server/store/usage/key-use";
import type { Visitor } from "#server/store/users/context";
import { notify } from "#server/store/users/notices";

interface KeyCall {
  readonly running: PortalRuntime;
  readonly user: PortalUser;
  readonly visitor: Visitor;
}

/** Emails users that one of their keys was created, rotated or revoked. */
export function notifyOfKey({ running, user, visitor }: KeyCall, keyName: string, made: KeyChangeWord): Promise<void> {
  return notify(running.users, user, "key", visitor, (to, occasion) => keyMail(to, keyName, made, occasion));
}

/**
 * Revokes a key after its name was typed again, and those that it replaced where that was asked for.
 * @returns the key, and whether it was this that revoked it
 * @throws Fault invalid_parameter for another name; not_found for the key of another account
 */
export async function revokeConfirmed(
  running: PortalRuntime,
  id: string,
  { confirm, replaced }: z.output<typeof RevokeKeyForm>,
  by: ChangedBy,
): Promise<{ readonly key: PortalKey; readonly revoked: boolean }> {
  const { name, state } = await findKeyRecord(running, id, by);
  if (confirm.trim() !== name)
    throw new Fault("invalid_parameter", { parameter: "confirm", detail: "Type the key's name exactly as shown above." });
  if (replaced) await revokeReplaced(running, id, by);
  return { key: toPortalKey(await revokeKey(running, id, by)), revoked: state !== "revoked" };
}

export const keyRoutes = [
  /** The keys of the reader's account, newest first. */
  portalRoute("GET /keys", { user: "view" }, async ({ user, running }) => ({
    items: await shownKeys(running, user.accountId),
  })),

  /** Creates a key; only this answer contains its text. */
  portalRoute("POST /keys", { input: CreateKeyForm, user: "build", proof: true }, async (call) => {
    const { input, user, running } = call;
    const settings = { ...settingsOfForm(input), accountId: user.accountId };
    const { text, record } = await createKey(running, settings, changedBy(call));
    await notifyOfKey(call, record.name, "created");
    return { text, key: toPortalKey(record) };
  }),

  /** How much each key of the reader's account was used, by day. */
  portalRoute("GET /keys/use", { user: "view" }, async ({ user, running }) => ({
    items: await keyUse(running.db.pool, user.accountId, running.clock.now()),
  })),

  /** Changes the settings of a key. */
  portalRoute("PATCH /keys/[id]", { input: EditKeyForm, user: "build" }, async (call) => {
    const { input, params, running } = call;
    return { key: toPortalKey(await editKey(running, params.id, settingsOfForm(input), changedBy(call))) };
  }),

  /** Replaces a key, which stays valid for the grace period; only this answer contains the new text. */
  portalRoute("POST /keys/[id]/rotate", { input: RotateKeyForm, user: "build", proof: true }, async (call) => {
    const { input, params, running } = call;
    const { text, record, replaced } = await rotateKey(running, params.id, input.grace, changedBy(call));
    await notifyOfKey(call, record.name, "rotated");
    return { text, key: toPortalKey(record), replaced: toPortalKey(replaced) };
  }),

  /** Revokes a key after its name was typed again, and those that it replaced where that was asked for. */
  portalRoute("POST /keys/[id]/revoke", { input: RevokeKeyForm, user: "build" }, async (call) => {
    const { key, revoked } = await revokeConfirmed(call.running, call.params.id, call.input, changedBy(call));
    if (revoked) await notifyOfKey(call, key.name, "revoked");
    return { key };
  }),

  /** A short-lived token with which the playground uses one of the reader's keys. */
  portalRoute("POST /tokens", { input: TokenForm, user: "build" }, ({ input, user, running, request }) =>
    issuePortalToken(running, user, input.key_id, ownOrigin(running.env, request.headers)),
  ),

  /** A short-lived token with which pages show prices to a reader who has no key. */
  portalRoute("POST /page-tokens", { user: "none" }, ({ running, request, visitor }) => {
    if (running.env.DEMO_KEY === "off") throw new Fault("not_found", { detail: "Pages show prices to no strangers here." });
    running.users.attempts.takeHere("page_token", clientBlock(visitor.address));
    return issuePageToken(running, ownOrigin(running.env, request.headers));
  }),

  /** A short-lived token with which pages show the live venue as one of the reader's keys may read it, without using that key. */
  portalRoute("POST /page-tokens/live", { input: TokenForm, user: "build" }, ({ input, user, running, request, visitor }) => {
    running.users.attempts.takeHere("page_token", clientBlock(visitor.address));
    return issueLivePageToken(running, user, input.key_id, ownOrigin(running.env, request.headers));
  }),
];
