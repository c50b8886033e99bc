import type { PortalUser } from "#lib/contract/portal";
import { type AuditedChange, audit, auditOn, type ChangedBy, NOT_SIGNED_IN } from "#server/store/access/audit";
import type { HistoryAdmin } from "#server/store/klines/import-undo";
import type { CalendarAdmin } from "#server/store/market/calendar-admin";
import type { CatalogueAdmin } from "#server/store/market/catalogue-admin";
import type { PinAdmin } from "#server/store/market/feed-pin";
import type { NotesAdmin } from "#server/store/market/incident-notes";
import type { Visitor } from "#server/store/users/context";
import type { PortalRuntime } from "./runtime";

/** Who calls, and from where. */
interface Caller {
  readonly user: PortalUser;
  readonly visitor: Pick<Visitor, "address">;
}

/** A call of an operator. */
interface OperatorCall extends Caller {
  readonly running: PortalRuntime;
}

/** What an operator was shown of others. */
interface Shown {
  /** As "accounts". */
  readonly target: string;
  /** The account, where it is of one alone; its owner sees the entry too. */
  readonly accountId?: string | undefined;
  readonly after?: Readonly<Record<string, unknown>>;
}

const actorOf = ({ id, email }: PortalUser) => ({ id, name: email });

/** A user who changes their own account. Resources of other accounts do not exist for them. */
export function changedBy({ user, visitor }: Caller): Required<ChangedBy> {
  return { actor: actorOf(user), accountId: user.accountId, address: visitor.address };
}

/** An operator, who may change any account. */
export function operatorOf({ user, visitor }: Caller): ChangedBy {
  return { actor: actorOf(user), address: visitor.address };
}

/** What an operator changes calendars, listings, pins and notes with: each change is audited in its own transaction. */
export function installationAdmin(call: OperatorCall): CalendarAdmin & CatalogueAdmin & PinAdmin & NotesAdmin {
  const { db, clock } = call.running;
  const record = (tx: Parameters<typeof audit>[0], change: Pick<AuditedChange, "action" | "target" | "before" | "after">) =>
    audit(tx, { ...operatorOf(call), accountId: null, ...change });
  return { db, clock, record };
}

/** What an operator corrects minutes and undoes imports with: each change is audited in its own transaction. */
export function historyAdmin(call: OperatorCall): HistoryAdmin {
  const { db, clock } = call.running;
  return { db, clock, record: (client, change) => auditOn(client, { ...operatorOf(call), accountId: null, ...change }) };
}

/** Records that an operator reads personal data, before it is sent. Repetitions within 15 minutes count as one. */
export async function noteRead(call: OperatorCall, { target, accountId, after = {} }: Shown): Promise<void> {
  const event = { action: "access.read", accountId: accountId ?? null, target, after };
  await call.running.users.events.note({ ...operatorOf(call), ...event });
}

/** Records that somebody reads the captured emails, which needs no sign-in where the page exists. */
export async function noteOutboxRead({ users }: PortalRuntime, user: PortalUser | undefined, address: string): Promise<void> {
  const actor = user === undefined ? NOT_SIGNED_IN : actorOf(user);
  await users.events.note({ actor, accountId: null, action: "access.read", target: "outbox", address });
}
