import type { KeyContext } from "#lib/access/keys";
import { listOperators, setOperator } from "#lib/access/users/operators";
import { resetSecondFactors } from "#lib/access/users/second-factor";
import { defineCommand, runAsProcess, subcommandOf, wordsOf } from "./run-command";
import { EXIT_DONE } from "./usage-error";

const USAGE = `npm run admin -- <command>

  grant  EMAIL    lets a user with a verified email address open /admin
  revoke EMAIL    takes that permission back
  reset EMAIL     removes a user's passkeys, authenticator app and recovery codes, and signs them out
  list            prints the users who may open /admin

A running service applies a change on the user's next request.`;

type Print = (line: string) => void;
type Work = (context: KeyContext, print: Print) => Promise<void>;

async function list(context: KeyContext, print: Print): Promise<void> {
  const operators = await listOperators(context);
  if (operators.length === 0) print("No operators yet. Add one with: npm run admin -- grant EMAIL");
  for (const { email } of operators) print(email);
}

async function set(context: KeyContext, print: Print, email: string, operator: boolean): Promise<void> {
  const changed = await setOperator(context, email, operator);
  print(operator ? `${changed.email} can now open /admin.` : `${changed.email} can no longer open /admin.`);
  if (operator) print("A passkey or an authenticator app is needed there. It is set up at /dashboard/account.");
}

async function reset(context: KeyContext, print: Print, address: string): Promise<void> {
  const { email } = await resetSecondFactors(context, address);
  print(`${email} has no second factor any more, and was signed out everywhere.`);
}

/** @throws UsageError */
function workOf(positionals: readonly string[]): Work {
  const { name, words } = subcommandOf(positionals, ["grant", "revoke", "reset", "list"]);
  if (name === "list") {
    wordsOf(words);
    return list;
  }
  const [email] = wordsOf(words, "EMAIL");
  if (name === "reset") return (context, print) => reset(context, print, email);
  return (context, print) => set(context, print, email, name === "grant");
}

/** `npm run admin`. */
export const adminCommand = defineCommand({
  name: "admin",
  usage: USAGE,
  options: {},
  async run({ positionals }, { clock, print, withDatabase }) {
    const work = workOf(positionals);
    await withDatabase((db) => work({ db, clock }, print));
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, adminCommand);
