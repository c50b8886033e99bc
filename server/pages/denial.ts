import type { PortalUser } from "#lib/contract/portal";
import type { PortalRuntime } from "./runtime";

/** How much of a path is recorded. */
const PATH_MAX_CHARACTERS = 100;

/** Records that a signed-in user asked for what only operators may see. */
export function noteDenial({ users }: PortalRuntime, { id, email, accountId }: PortalUser, path: string, address: string): void {
  const event = { action: "access.denied", target: path.slice(0, PATH_MAX_CHARACTERS), address };
  users.events.noteStranger({ actor: { id, name: email }, accountId, ...event });
}
