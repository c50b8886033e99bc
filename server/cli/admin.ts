import { fileURLToPath } from "node:url";
import type { KeyContext } from "#lib/access/keys";
import { listOperators, setOperator } from "#lib/access/users/operators";
import { systemClock } from "#lib/clock";
import { readEnv } from "#lib/env";
import { isFault } from "#lib/fault";
import { createLog } from "#lib/log";
import { borrowDatabase } from "#server/database/database";

const USAGE = `npm run admin -- <command>

  grant  EMAIL    lets somebody who signed up and verified this address open /admin
  revoke EMAIL    takes that back
  list            who may open it

Changes count with the next request of a running service.`;

const EXIT_USAGE = 2;
/** Words each command takes after its name. */
const WORDS: Readonly<Record<string, number>> = { grant: 1, revoke: 1, list: 0 };

/** What was typed wrongly; shown without a stack. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

type Print = (line: string) => void;

/**
 * Does what is asked of the operators.
 * @throws UsageError or Fault invalid_parameter with words for who types; nothing was changed then
 */
export async function runAdmin(args: readonly string[], context: KeyContext, print: Print): Promise<void> {
  const [command, email = "", ...rest] = args;
  if (command === undefined || command === "--help" || command === "-h") return print(USAGE);
  const words = WORDS[command];
  if (words === undefined) throw new UsageError(`Unknown command ${command}.\n\n${USAGE}`);
  if (words === 0 ? email !== "" : email === "" || rest.length > 0)
    throw new UsageError(`${command} takes ${words === 0 ? "nothing" : "one e-mail address"} after it.`);
  if (command === "list") {
    const operators = await listOperators(context);
    if (operators.length === 0) print("Nobody yet: npm run admin -- grant EMAIL");
    for (const operator of operators) print(operator.email);
    return;
  }
  const { email: changed } = await setOperator(context, email, command === "grant");
  print(command === "grant" ? `${changed} may open /admin now.` : `${changed} may not open /admin any more.`);
}

async function main(): Promise<void> {
  const { db, release } = await borrowDatabase(readEnv(), createLog("error"), systemClock);
  try {
    await runAdmin(process.argv.slice(2), { db, clock: systemClock }, (text) => void process.stdout.write(`${text}\n`));
  } catch (error) {
    if (!(error instanceof UsageError) && !isFault(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_USAGE;
  } finally {
    await release();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
