import { NOT_SIGNED_IN } from "#lib/access/audit";
import type { PortalUser } from "#lib/contract/portal";
import { operatorOf } from "./changed-by";
import type { PortalRuntime } from "./runtime";

/** A request of an operator. */
interface OperatorCall {
  readonly running: PortalRuntime;
  readonly user: PortalUser;
  readonly address: string;
}

/** What an operator was shown of others. */
interface Shown {
  /** As "accounts". */
  readonly target: string;
  /** The account, where it is of one alone; its owner sees the entry too. */
  readonly accountId?: string | undefined;
  readonly after?: Readonly<Record<string, unknown>>;
}

/** Records that an operator reads personal data, before it is sent. Repetitions within 15 minutes count as one. */
export async function noteRead(call: OperatorCall, { target, accountId, after = {} }: Shown): Promise<void> {
  const event = { action: "access.read", accountId: accountId ?? null, target, after };
  await call.running.users.events.note({ ...operatorOf(call), ...event });
}

/** Records that somebody reads the captured emails, which needs no sign-in where the page exists. */
export async function noteOutboxRead({ users }: PortalRuntime, user: PortalUser | undefined, address: string): Promise<void> {
  const actor = user === undefined ? NOT_SIGNED_IN : { id: user.id, name: user.email };
  await users.events.note({ actor, accountId: null, action: "access.read", target: "outbox", address });
}
