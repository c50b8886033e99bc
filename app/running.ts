import { isFault } from "#lib/fault";
import { type Runtime, runtime } from "#lib/runtime";

/** The running parts; undefined while they are not up, as under Next's own development server. */
export function runningParts(): Runtime | undefined {
  try {
    return runtime();
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** The public demo key, undefined where it is switched off. */
export function demoKeyOf({ env }: Pick<Runtime, "env">): string | undefined {
  return env.DEMO_KEY === "off" ? undefined : env.DEMO_KEY;
}
