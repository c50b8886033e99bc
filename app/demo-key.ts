import type { PortalRuntime } from "#server/pages/runtime";
import { type Credential, PAGE_CREDENTIAL } from "../components/portal/credential";

/** The public demo key, undefined when it is disabled. */
export function demoKeyOf({ env }: Pick<PortalRuntime, "env">): string | undefined {
  return env.DEMO_KEY === "off" ? undefined : env.DEMO_KEY;
}

/** What pages show the sandbox with; undefined where the demo key is disabled. */
export const pageCredentialOf = (parts: Pick<PortalRuntime, "env">): Credential | undefined =>
  demoKeyOf(parts) === undefined ? undefined : PAGE_CREDENTIAL;
