import { createLinkTokens } from "#lib/access/links/link-token";
import type { Operation } from "#lib/contract/operation";
import type { PortalUser } from "#lib/contract/portal";
import { LinkForm } from "#lib/contract/portal-links";
import { Fault } from "#lib/fault";
import { parseQuery } from "#lib/http/query";
import { linkMail } from "#lib/mail/security-messages";
import { operations } from "#lib/operations/declarations";
import { linkOperation } from "#lib/operations/link/declaration";
import { changedBy } from "#server/pages/audit";
import { portalRoute } from "#server/pages/route";
import type { PortalRuntime } from "#server/pages/runtime";
import { ownOrigin } from "#server/pages/visitor";
import { createLink, findLinkInfo, listLinks, type NewLink, revokeLink } from "#server/store/access/links";
import type { Visitor } from "#server/store/users/context";
import { notify } from "#server/store/users/notices";

interface LinkCall {
  readonly running: PortalRuntime;
  readonly user: PortalUser;
  readonly visitor: Visitor;
}

/** Emails users that one of their links was created or revoked. */
function notifyOfLink({ running, user, visitor }: LinkCall, linkName: string, made: "created" | "revoked"): Promise<void> {
  return notify(running.users, user, "link", visitor, (to, occasion) => linkMail(to, linkName, made, occasion));
}

/** The URL of the link with this id. Anyone who has it can make the link's call. */
function linkAddress({ running, request }: { readonly running: PortalRuntime; readonly request: Request }, id: string): string {
  const token = createLinkTokens(running.secrets.nextAuth, running.brand.keyPrefix).sign(id);
  return `${ownOrigin(running.env, request.headers)}${linkOperation.path}?token=${token}`;
}

/**
 * A link as a form asks for it, with its parameters checked as those of a call. The format is always part of it, so that no
 * program's `Accept` header changes it.
 * @throws Fault of the first parameter that the operation refuses or does not have
 */
function linkOfForm({ name, key_id, operation: id, parameters, expires_at }: LinkForm): NewLink {
  const operation = operations[id] as unknown as Operation;
  const format = parameters.format || (operation.file === undefined ? "json" : "parquet");
  const given = Object.entries({ ...parameters, format }).filter(([, value]) => value.trim() !== "");
  const unknown = given.map(([parameter]) => parameter).find((parameter) => !Object.hasOwn(operation.query, parameter));
  if (unknown !== undefined)
    throw new Fault("invalid_parameter", { parameter: unknown, detail: `${operation.summary} has no parameter of this name.` });
  const query = new URLSearchParams(given).toString();
  parseQuery(operation, query);
  return { name, keyId: key_id, operation: id, query, expiresAt: new Date(expires_at) };
}

export const linkRoutes = [
  /** The links of the reader's account, newest first, without their addresses. */
  portalRoute("GET /links", { user: "view" }, async ({ user, running }) => ({
    items: await listLinks(running, user.accountId),
  })),

  /** Creates a link, and answers with its address. */
  portalRoute("POST /links", { input: LinkForm, user: "build", proof: true }, async (call) => {
    const { input, running, user } = call;
    await running.users.attempts.take("link_add", user.accountId);
    const link = await createLink(running, linkOfForm(input), changedBy(call));
    await notifyOfLink(call, link.name, "created");
    return { link, address: linkAddress(call, link.id) };
  }),

  /** Revokes a link of the reader's account for good. */
  portalRoute("DELETE /links/[id]", { user: "build" }, async (call) => {
    const name = await revokeLink(call.running, call.params.id, changedBy(call));
    await notifyOfLink(call, name, "revoked");
    return {};
  }),

  /** The address of a link of the reader's account, once more. It needs a proof, as creating the link did. */
  portalRoute("POST /links/[id]/address", { user: "build", proof: true }, async (call) => {
    const { id } = await findLinkInfo(call.running, call.params.id, call.user.accountId);
    return { address: linkAddress(call, id) };
  }),
];
