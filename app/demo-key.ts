import type { PortalRuntime } from "#server/pages/runtime";

/** The public demo key, undefined when it is disabled. */
export function demoKeyOf({ env }: Pick<PortalRuntime, "env">): string | undefined {
  return env.DEMO_KEY === "off" ? undefined : env.DEMO_KEY;
}
