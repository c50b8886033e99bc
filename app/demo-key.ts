import type { Runtime } from "#lib/runtime";

/** The public demo key, undefined when it is disabled. */
export function demoKeyOf({ env }: Pick<Runtime, "env">): string | undefined {
  return env.DEMO_KEY === "off" ? undefined : env.DEMO_KEY;
}
