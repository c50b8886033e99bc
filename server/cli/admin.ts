import { CustomerForm, InviteForm } from "#lib/contract/organisation";
import { requireValid } from "#lib/fault";
import { pageLink } from "#lib/mail/messages";
import { addressGivenMail, emailChangedMail, secondFactorMail } from "#lib/mail/security-messages";
import { providerTerms } from "#lib/provider-terms";
import { COMMAND_LINE } from "#server/store/access/audit";
import type { KeyContext } from "#server/store/access/keys";
import { createCustomer, listAccounts } from "#server/store/users/account-admin";
import { moveUser } from "#server/store/users/email";
import { createInvitation } from "#server/store/users/invitations";
import { listOperators, setLiveAccess, setOperator } from "#server/store/users/operators";
import { resetSecondFactors } from "#server/store/users/second-factor";
import { notify } from "./notify";
import { type CommandContext, defineCommand, runAsProcess, subcommandOf, wordsOf } from "./run-command";
import { EXIT_DONE } from "./usage-error";

const USAGE = `npm run admin -- <command>

  grant  EMAIL    lets a user with a verified email address open /admin
  revoke EMAIL    takes that permission back
  reset EMAIL     removes a user's passkeys, authenticator app and recovery codes, and signs them out
  move   EMAIL NEW_EMAIL
                  gives a user who lost the mailbox another address, and signs them out; make sure that it is theirs
  invite EMAIL ACCOUNT
                  prints a link with which EMAIL becomes the owner of ACCOUNT, also where SIGNUP lets nobody else in; an account
                  that is not there yet is created
  list            prints the users who may open /admin
  grant-live ACCOUNT
                  lets an account use the live venue; ACCOUNT is its name, or the email address of its owner
  withdraw-live ACCOUNT
                  takes that back: within a second its live keys stop working and their streams end
  list-live       prints the accounts that may use the live venue, by a grant or by their plan

A running service applies a change on the user's next request. grant also lets the user's account use the live venue.
reset and move email the user what was changed.`;

const COMMANDS = ["grant", "revoke", "reset", "move", "invite", "list", "grant-live", "withdraw-live", "list-live"] as const;

type Work = (context: KeyContext, command: CommandContext) => Promise<void>;

async function list(context: KeyContext, { print }: CommandContext): Promise<void> {
  const operators = await listOperators(context);
  if (operators.length === 0) print("No operators yet. Add one with: npm run admin -- grant EMAIL");
  for (const { email } of operators) print(email);
}

async function set(context: KeyContext, { print }: CommandContext, email: string, operator: boolean): Promise<void> {
  const changed = await setOperator(context, email, operator);
  print(operator ? `${changed.email} can now open /admin.` : `${changed.email} can no longer open /admin.`);
  if (!operator) print(`Their account keeps live access. To take it too: npm run admin -- withdraw-live ${changed.email}`);
  if (operator)
    print(
      "Their account can use the live venue. A passkey or an authenticator app is needed for /admin. It is set up at /dashboard/account.",
    );
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

async function listLive(context: KeyContext, { print }: CommandContext): Promise<void> {
  let before: string | undefined;
  do {
    const page = await listAccounts(context, { live: "true", before });
    for (const { name, plan, live_access } of page.items) print(live_access ? name : `${name}  by plan ${plan}`);
    before = page.next_before ?? undefined;
  } while (before !== undefined);
}

async function setLive(context: KeyContext, command: CommandContext, account: string, granted: boolean): Promise<void> {
  const { print, readEnv } = command;
  const { name, plan, plan_live_access } = await setLiveAccess(context, account, granted);
  if (granted) {
    print(`${name} can now use the live venue.`);
    for (const { provider, terms } of providerTerms(readEnv().LIVE_FEED)) print(`${provider}: ${terms}`);
  } else if (plan_live_access) print(`${name} has no grant of its own any more, but its plan ${plan} gives it live access.`);
  else print(`${name} can no longer use the live venue.`);
}

async function invite(context: KeyContext, { print, readEnv }: CommandContext, address: string, name: string): Promise<void> {
  const form = requireValid(InviteForm, { email: address, role: "owner", mail: false });
  const known = await context.db.prisma.account.findUnique({ where: { name } });
  const { id } = known ?? (await createCustomer(context, requireValid(CustomerForm, { name, plan: "free" }), COMMAND_LINE));
  const { token } = await createInvitation(context, id, form, COMMAND_LINE);
  const { PUBLIC_URL, PORT } = readEnv();
  print(`Whoever has this link can create the account of ${form.email} within 7 days, once the address is verified:`);
  print(pageLink(PUBLIC_URL ?? `http://localhost:${PORT}`, "invitation", token));
}

/** @throws UsageError */
function workOf(positionals: readonly string[]): Work {
  const { name, words } = subcommandOf(positionals, COMMANDS);
  if (name === "list" || name === "list-live") {
    wordsOf(words);
    return name === "list" ? list : listLive;
  }
  if (name === "grant-live" || name === "withdraw-live") {
    const [account] = wordsOf(words, "ACCOUNT");
    return (context, command) => setLive(context, command, account, name === "grant-live");
  }
  if (name === "move") {
    const [from, to] = wordsOf(words, "EMAIL", "NEW_EMAIL");
    return (context, command) => move(context, command, from, to);
  }
  if (name === "invite") {
    const [email, account] = wordsOf(words, "EMAIL", "ACCOUNT");
    return (context, command) => invite(context, command, email, account);
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
