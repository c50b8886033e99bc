import type { Runtime } from "#lib/runtime";

/** The public demo key, undefined where it is switched off. */
export function demoKeyOf({ env }: Pick<Runtime, "env">): string | undefined {
  return env.DEMO_KEY === "off" ? undefined : env.DEMO_KEY;
}
