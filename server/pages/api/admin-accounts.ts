import { CustomerForm, InviteForm } from "#lib/contract/organisation";
import { type PortalUser, RevokeKeyForm } from "#lib/contract/portal";
import { AccountForm, AccountsQuery, type LiveTerms, PlanChangeForm, type PortalAccount } from "#lib/contract/portal-admin";
import { approvalMail, type LiveDecision, liveAccessMail } from "#lib/mail/messages";
import { keyMail } from "#lib/mail/security-messages";
import { providerTerms } from "#lib/provider-terms";
import { noteRead, operatorOf } from "#server/pages/audit";
import { portalRoute } from "#server/pages/route";
import type { PortalRuntime } from "#server/pages/runtime";
import type { AccountChange } from "#server/store/access/accounts";
import { AuditSearchQuery, listAudit } from "#server/store/access/audit";
import { listPlans, putPlan } from "#server/store/access/plan-admin";
import { LogQuery, listRequests } from "#server/store/usage/request-log-query";
import {
  changeAccount,
  countLive,
  createCustomer,
  decideWaiting,
  declineLive,
  listAccounts,
  reportAccount,
} from "#server/store/users/account-admin";
import type { Visitor } from "#server/store/users/context";
import { invite, withdrawInvitation } from "#server/store/users/invitations";
import { occasionOf, ownerAddresses } from "#server/store/users/notices";

import { revokeConfirmed } from "./keys";

interface DecisionCall {
  readonly running: PortalRuntime;
  readonly user: PortalUser;
  readonly params: { readonly id: string };
  readonly visitor: Visitor;
}

async function decide(call: DecisionCall, approved: boolean): Promise<object> {
  const { running, params, visitor } = call;
  const owners = await decideWaiting(running, params.id, approved, operatorOf(call));
  for (const owner of owners) running.users.send(approvalMail(owner, visitor.base, approved));
  return {};
}

const hasLive = ({ live_access, plan_live_access }: PortalAccount) => live_access || plan_live_access;

/** Tells the owners of an account what was decided about its live access. */
async function tellOwners(
  { running: { users }, visitor }: DecisionCall,
  { name }: PortalAccount,
  decision: LiveDecision,
): Promise<void> {
  for (const owner of await ownerAddresses(users, name)) users.send(liveAccessMail(owner, visitor.base, name, decision));
}

export const adminAccountRoutes = [
  /** Accounts with the addresses of their owners. */
  portalRoute("GET /admin/accounts", { input: AccountsQuery, user: "operator" }, async (call) => {
    const page = await listAccounts(call.running, call.input);
    const [only, ...others] = page.items;
    const accountId = others.length === 0 ? only?.id : undefined;
    await noteRead(call, { target: "accounts", accountId, after: { accounts: page.items.map(({ name }) => name) } });
    return page;
  }),

  /** One account, with its keys and their use. */
  portalRoute("GET /admin/accounts/[id]", { user: "operator" }, async (call) => {
    const report = await reportAccount(call.running, call.params.id);
    const { id, name } = report.account;
    await noteRead(call, { target: "the account", accountId: id, after: { account: name } });
    return report;
  }),

  /** Creates a customer: an account without members. */
  portalRoute("POST /admin/accounts", { input: CustomerForm, user: "operator" }, async (call) => ({
    account: await createCustomer(call.running, call.input, operatorOf(call)),
  })),

  /** Invites an address to an account; only this answer contains the link, unless it is mailed. */
  portalRoute("POST /admin/accounts/[id]/invitations", { input: InviteForm, user: "operator" }, (call) =>
    invite(call.running.users, call.params.id, call.input, operatorOf(call), call.visitor),
  ),

  /** Withdraws an invitation to an account. */
  portalRoute("DELETE /admin/accounts/[id]/invitations/[invitation]", { user: "operator" }, async (call) => {
    await withdrawInvitation(call.running, call.params.id, call.params.invitation, operatorOf(call));
    return {};
  }),

  /** Approves an account that waits, and tells its owners. */
  portalRoute("POST /admin/accounts/[id]/approve", { user: "operator" }, (call) => decide(call, true)),

  /** Refuses it: the account is deleted, and its owners are told. */
  portalRoute("POST /admin/accounts/[id]/refuse", { user: "operator" }, (call) => decide(call, false)),

  /** Puts an account on another plan, or lets it use the live venue, of which its owners are told. */
  portalRoute("PATCH /admin/accounts/[id]", { input: AccountForm, user: "operator" }, async (call) => {
    const { revision, live_access, history_days, sign_in_domain, ...rest } = call.input;
    const change = {
      ...rest,
      ...(live_access !== undefined && { liveAccess: live_access }),
      ...(history_days !== undefined && { historyDays: history_days }),
      ...(sign_in_domain !== undefined && { signInDomain: sign_in_domain }),
    } as AccountChange;
    const { before, after } = await changeAccount(call.running, call.params.id, change, revision, operatorOf(call));
    if (hasLive(before) !== hasLive(after)) await tellOwners(call, after, hasLive(after) ? "granted" : "withdrawn");
    return { account: after };
  }),

  /** Declines the request of an account for live access, and tells its owners. */
  portalRoute("POST /admin/accounts/[id]/decline-live", { user: "operator" }, async (call) => {
    const account = await declineLive(call.running, call.params.id, operatorOf(call));
    await tellOwners(call, account, "declined");
    return { account };
  }),

  /** Revokes a key of an account after its name was typed again, as its members can, and tells its owners. */
  portalRoute("POST /admin/accounts/[id]/keys/[key]/revoke", { input: RevokeKeyForm, user: "operator" }, async (call) => {
    const { running, params, visitor } = call;
    const { account } = await reportAccount(running, params.id);
    const by = { ...operatorOf(call), accountId: account.id };
    const { key, revoked } = await revokeConfirmed(running, params.key, call.input, by);
    // By an operator: where from is nobody else's business.
    const occasion = { ...occasionOf(running.users, visitor), address: null };
    if (revoked)
      for (const owner of await ownerAddresses(running.users, account.name))
        running.users.send(keyMail(owner, key.name, "revoked", occasion));
    return { key };
  }),

  /** The newest requests of an account, of which an operator reads those with an error. */
  portalRoute("GET /admin/accounts/[id]/logs", { input: LogQuery, user: "operator" }, async (call) => {
    const { running, params, input } = call;
    const { account } = await reportAccount(running, params.id);
    await noteRead(call, { target: "the log", accountId: account.id, after: { account: account.name } });
    return listRequests(running.db.pool, account.id, input);
  }),

  /** What the sources of live prices say about passing them on, and how many accounts read them. */
  portalRoute(
    "GET /admin/live-terms",
    { user: "operator" },
    async ({ running }): Promise<LiveTerms> => ({
      items: providerTerms(running.env.LIVE_FEED),
      accounts: await countLive(running),
    }),
  ),

  /** All plans, the smallest first. */
  portalRoute("GET /admin/plans", { user: "operator" }, async ({ running }) => ({ items: await listPlans(running) })),

  /** Creates a plan, or changes it. */
  portalRoute("PUT /admin/plans/[name]", { input: PlanChangeForm, user: "operator" }, async (call) => {
    const { name } = call.params;
    const { after, revision } = await putPlan(call.running, name, call.input, operatorOf(call));
    return { plan: { name, ...after, revision } };
  }),

  /** The audit log of the whole installation. */
  portalRoute("GET /admin/audit", { input: AuditSearchQuery, user: "operator" }, async (call) => {
    const page = await listAudit(call.running.db, call.input);
    await noteRead(call, { target: "audit log", after: { page: call.input.before ?? "newest" } });
    return page;
  }),
];
