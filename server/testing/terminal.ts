import { systemClock } from "#lib/clock";
import { type Command, type Options, runCommand, type Terminal } from "#server/cli/run-command";
import { readEnv } from "#server/env";
import type { Database } from "#server/store/database/db";

interface TerminalOptions extends Partial<Terminal> {
  /** Replaces withDatabase; by default, a command that opens a database fails the test. */
  readonly db?: Database;
  /** The complete environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The output and exit code of a command. */
interface CommandOutcome {
  readonly exitCode: number;
  /** Standard output, without the last line break. */
  readonly output: string;
  /** Standard error, without the last line break. */
  readonly errors: string;
}

/** Runs a command of package.json in this process. */
export async function commandOutcome<Config extends Options>(
  command: Command<Config>,
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<CommandOutcome> {
  const { db, variables = {}, ...rest } = options;
  const said = { output: "", errors: "" };
  const exitCode = await runCommand(command, args, {
    output: { write: (text) => (said.output += text) },
    errors: { write: (text) => (said.errors += text) },
    clock: systemClock,
    readEnv: () => readEnv(variables),
    async borrowDatabase() {
      if (db === undefined) throw new Error("this command opened a database");
      return { db, release: async () => undefined };
    },
    stopSignal: () => new AbortController().signal,
    ...rest,
  });
  return { exitCode, output: said.output.trimEnd(), errors: said.errors.trimEnd() };
}
