import { audit, auditOn, type ChangedBy } from "#lib/access/audit";
import type { PortalUser } from "#lib/contract/portal";
import type { CalendarAdmin } from "#lib/market/calendar-admin";
import type { PinAdmin } from "#lib/market/feed-pin";
import type { HistoryAdmin } from "#lib/market/import-undo";
import type { NotesAdmin } from "#lib/market/incident-notes";
import type { PortalRuntime } from "./runtime";

/** A user who changes their own account. Resources of other accounts do not exist for them. */
export function changedBy({ user, address }: { readonly user: PortalUser; readonly address: string }): Required<ChangedBy> {
  return { actor: { id: user.id, name: user.email }, accountId: user.accountId, address };
}

/** An operator, who may change any account. */
export function operatorOf({ user, address }: { readonly user: PortalUser; readonly address: string }): ChangedBy {
  return { actor: { id: user.id, name: user.email }, address };
}

/** A call of an operator. */
interface OperatorCall {
  readonly running: PortalRuntime;
  readonly user: PortalUser;
  readonly address: string;
}

/** What an operator changes calendars with: each change is audited in its own transaction. */
export function calendarAdmin(call: OperatorCall): CalendarAdmin {
  const { db, clock } = call.running;
  return { db, clock, record: (tx, change) => audit(tx, { ...operatorOf(call), accountId: null, ...change }) };
}

/** What an operator pins a provider with: each change is audited in its own transaction. */
export function pinAdmin(call: OperatorCall): PinAdmin {
  const { db, clock } = call.running;
  return { db, clock, record: (tx, change) => audit(tx, { ...operatorOf(call), accountId: null, ...change }) };
}

/** What an operator changes notes of the status page with: each change is audited in its own transaction. */
export function notesAdmin(call: OperatorCall): NotesAdmin {
  const { db, clock } = call.running;
  return { db, clock, record: (tx, change) => audit(tx, { ...operatorOf(call), accountId: null, ...change }) };
}

/** What an operator corrects minutes and undoes imports with: each change is audited in its own transaction. */
export function historyAdmin(call: OperatorCall): HistoryAdmin {
  const { db, clock } = call.running;
  return { db, clock, record: (client, change) => auditOn(client, { ...operatorOf(call), accountId: null, ...change }) };
}
