import type { KeyContext } from "#lib/access/keys";
import { moveUser } from "#lib/access/users/email";
import { listOperators, setOperator } from "#lib/access/users/operators";
import { resetSecondFactors } from "#lib/access/users/second-factor";
import { addressGivenMail, emailChangedMail, secondFactorMail } from "#lib/mail/security-messages";
import { notify } from "./notify";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, wordsOf } from "./run-command";
import { EXIT_DONE } from "./usage-error";

const USAGE = `npm run admin -- <command>

  grant  EMAIL    lets a user with a verified email address open /admin
  revoke EMAIL    takes that permission back
  reset EMAIL     removes a user's passkeys, authenticator app and recovery codes, and signs them out
  move   EMAIL NEW_EMAIL
                  gives a user who lost the mailbox another address, and signs them out; make sure that it is theirs
  list            prints the users who may open /admin

A running service applies a change on the user's next request. reset and move email the user what was changed.`;

type Work = (context: KeyContext, command: CommandContext) => Promise<void>;

async function list(context: KeyContext, { print }: CommandContext): Promise<void> {
  const operators = await listOperators(context);
  if (operators.length === 0) print("No operators yet. Add one with: npm run admin -- grant EMAIL");
  for (const { email } of operators) print(email);
}

async function set(context: KeyContext, { print }: CommandContext, email: string, operator: boolean): Promise<void> {
  const changed = await setOperator(context, email, operator);
  print(operator ? `${changed.email} can now open /admin.` : `${changed.email} can no longer open /admin.`);
  if (operator) print("A passkey or an authenticator app is needed there. It is set up at /dashboard/account.");
}

async function reset(context: KeyContext, command: CommandContext, address: string): Promise<void> {
  const { email } = await resetSecondFactors(context, address);
  const what = "Your passkeys, authenticator app and recovery codes were removed, and all browsers were signed out.";
  await notify(command, email, (to, occasion) => secondFactorMail(to, what, occasion));
  command.print(`${email} has no second factor any more, and was signed out everywhere.`);
}

async function move(context: KeyContext, command: CommandContext, from: string, to: string): Promise<void> {
  const { old, now } = await moveUser(context, from, to);
  await notify(command, old, (address, occasion) => emailChangedMail(address, now, occasion));
  await notify(command, now, (address, occasion) => addressGivenMail(address, old, occasion));
  command.print(`${old} is now ${now}, and was signed out everywhere. The password and second factors stay.`);
}

/** @throws UsageError */
function workOf(positionals: readonly string[]): Work {
  const { name, words } = subcommandOf(positionals, ["grant", "revoke", "reset", "move", "list"]);
  if (name === "list") {
    wordsOf(words);
    return list;
  }
  if (name === "move") {
    const [from, to] = wordsOf(words, "EMAIL", "NEW_EMAIL");
    return (context, command) => move(context, command, from, to);
  }
  const [email] = wordsOf(words, "EMAIL");
  if (name === "reset") return (context, command) => reset(context, command, email);
  return (context, command) => set(context, command, email, name === "grant");
}

/** `npm run admin`. */
export const adminCommand = defineCommand({
  name: "admin",
  usage: USAGE,
  options: {},
  async run({ positionals }, command) {
    const work = workOf(positionals);
    await command.withDatabase((db) => work({ db, clock: command.clock }, command));
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, adminCommand);
