import { json } from "node:stream/consumers";
import { openTestEndpoint, type TestEndpoint } from "#lib/testing/lazy-endpoint";

/** The variable with the URL that runs the command `keys`; absent outside a test run. */
export const KEY_ENDPOINT = "E2E_KEY_ENDPOINT";

/** A command line of `keys`, and the variables that say where its data are. */
export interface KeyOrder {
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** The exit code and output of a command. */
export interface CommandResult {
  readonly exitCode: number | null;
  readonly output: string;
}

async function runKeys({ args, variables }: KeyOrder): Promise<CommandResult> {
  // Loaded for the first key: a run of unit tests makes none.
  const [{ commandOutcome }, { keysCommand }, { borrowDatabase }, { createLog }, { systemClock }] = await Promise.all([
    import("#server/testing/terminal"),
    import("#server/cli/keys"),
    import("#server/database/database"),
    import("#lib/log"),
    import("#lib/clock"),
  ]);
  const { exitCode, output, errors } = await commandOutcome(keysCommand, args, {
    variables: { ...(process.env as Record<string, string>), ...variables },
    borrowDatabase: (env) => borrowDatabase(env, createLog("error"), systemClock),
  });
  return { exitCode, output: `${output}\n${errors}` };
}

/**
 * Opens an endpoint of a test run that runs the command `keys` in this process. Most tests need a key, and a process for each
 * would spend its time on starting.
 */
export function openKeyEndpoint(): Promise<TestEndpoint> {
  return openTestEndpoint(async (request) => JSON.stringify(await runKeys((await json(request)) as KeyOrder)));
}
