import { createLinkTokens } from "#lib/access/links/link-token";
import { linkOperation } from "#lib/contract/link";
import type { PortalRuntime } from "./runtime";
import { ownOrigin } from "./visitor";

/** The address of the link with this id, as programs ask it. Whoever has it can make the call of the link. */
export function linkAddress(
  { running, request }: { readonly running: PortalRuntime; readonly request: Request },
  id: string,
): string {
  const token = createLinkTokens(running.secrets.nextAuth).sign(id);
  return `${ownOrigin(running.env, request.headers)}${linkOperation.path}?token=${token}`;
}
