import { fileURLToPath } from "node:url";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Clock, systemClock } from "#lib/clock";
import { httpStatus } from "#lib/contract/errors";
import { VENUES, type Venue } from "#lib/contract/primitives";
import type { Env } from "#lib/env";
import { isFault } from "#lib/fault";
import { createLog } from "#lib/log";
import { printable } from "#lib/printable";
import { EnvError, readEnv } from "#server/env";
import { type Database, reasonOf } from "#server/store/database/db";
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, UsageError } from "./usage-error";

/** Exit code of a command that Ctrl-C ended, as in a shell. */
const EXIT_INTERRUPTED = 130;
/** One Ctrl-C can arrive twice, from the terminal and from npm. A signal later than this ends the process at once. */
const SAME_INTERRUPT_MS = 1_000;

export type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<Config extends Options> = ReturnType<typeof parseArgs<{ options: Config; allowPositionals: true }>>;

/** An output stream; a terminal also has a size. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** The environment of a command: the process, or a test. */
export interface Terminal {
  readonly output: Output;
  readonly errors: Output;
  readonly clock: Clock;
  /** @throws EnvError */
  readEnv(): Env;
  /** The database of the running service, else one started for this command. */
  borrowDatabase(env: Env): Promise<{ readonly db: Database; release(): Promise<void> }>;
  /** Aborts on Ctrl-C. A command that never calls this ends at once instead. */
  stopSignal(): AbortSignal;
}

/** What a command receives. */
export interface CommandContext extends Pick<Terminal, "output" | "errors" | "clock" | "readEnv" | "stopSignal"> {
  /** Standard output without escaping, for a command that moves the cursor and escapes what it shows itself. */
  readonly screen: Output;
  /** Prints one line to standard output. */
  print(line: string): void;
  /** Opens the database, runs the work and closes the database. */
  withDatabase<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
}

/** One command of package.json. */
export interface Command<Config extends Options = Options> {
  /** The name in `npm run <name>`. */
  readonly name: string;
  /** The text that --help prints. */
  readonly usage: string;
  /** Options other than --help, in the form of parseArgs of node:util. */
  readonly options: Config;
  /**
   * Checks the arguments before it opens the database.
   * @returns the exit code
   * @throws UsageError for a mistake in the arguments; any other error fails the command with its message
   */
  run(parsed: Parsed<Config>, context: CommandContext): Promise<number> | number;
}

/** Keeps the options' types, which an annotation would widen. */
export function defineCommand<const Config extends Options>(command: Command<Config>): Command<Config> {
  return command;
}

const HELP = { help: { type: "boolean", short: "h", default: false } } as const;

/** A value that begins with a dash and no letter (--tz -05:00, --columns -,time) is joined to its option: it is no option itself. */
function joinDashed(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of args) {
    const before = joined.at(-1);
    if (before !== undefined && /^-[^a-z-]/i.test(word) && /^--[a-z][a-z-]*$/.test(before))
      joined[joined.length - 1] = `${before}=${word}`;
    else joined.push(word);
  }
  return joined;
}

/** The options and arguments of a command line. @throws UsageError */
export function parseArguments<Config extends Options>(options: Config, args: readonly string[]) {
  try {
    return parseArgs({ args: joinDashed(args), options: { ...options, ...HELP }, allowPositionals: true, strict: true });
  } catch (error) {
    // Drops Node's additional advice about dashes.
    const [sentence = ""] = (error as Error).message.split(/\.\s|\n/);
    throw new UsageError(`${sentence.replace(/\.$/, "")}.`);
  }
}

/** The subcommand and the arguments after it. @throws UsageError that lists the subcommands */
export function subcommandOf<Name extends string>(
  [word, ...words]: readonly string[],
  names: readonly Name[],
): { readonly name: Name; readonly words: readonly string[] } {
  const name = names.find((known) => known === word);
  if (name !== undefined) return { name, words };
  throw new UsageError(
    `${word === undefined ? "Missing command" : `Unknown command "${word}"`}: use one of ${names.join(", ")}.`,
  );
}

/** The arguments, one for each name. @throws UsageError for a missing or unexpected argument */
export function wordsOf<const Names extends readonly string[]>(
  words: readonly string[],
  ...names: Names
): { readonly [Index in keyof Names]: string } {
  const missing = names[words.length];
  if (missing !== undefined) throw new UsageError(`Missing argument: ${missing}.`);
  if (words.length > names.length) throw new UsageError(`Unexpected argument "${words[names.length]}".`);
  return words as unknown as { readonly [Index in keyof Names]: string };
}

/** The value of --venue. @throws UsageError that lists the venues */
export function venueOf(text: string): Venue {
  const venue = VENUES.find((name) => name === text);
  if (venue === undefined) throw new UsageError(`--venue ${text}: must be one of ${VENUES.join(", ")}.`);
  return venue;
}

/** Mistakes of the user; any other error is a failure at run time. */
function isUsage(error: unknown): boolean {
  return error instanceof UsageError || error instanceof EnvError || (isFault(error) && httpStatus(error.id) < 500);
}

function isDebugging(readEnvironment: Terminal["readEnv"]): boolean {
  try {
    return readEnvironment().LOG_LEVEL === "debug";
  } catch {
    return false;
  }
}

function explain(error: unknown, name: string, { errors, readEnv: readEnvironment }: Terminal): number {
  errors.write(`${reasonOf(error)}\n`);
  if (error instanceof UsageError) errors.write(`Run "npm run ${name} -- --help" for usage.\n`);
  if (isUsage(error)) return EXIT_USAGE;
  if (error instanceof Error && isDebugging(readEnvironment)) errors.write(`${error.stack}\n`);
  return EXIT_FAILED;
}

/** The same stream for text of any origin: characters that a terminal would obey are escaped. */
function escaping(output: Output): Output {
  return {
    write: (text) => output.write(printable(text)),
    get isTTY() {
      return output.isTTY;
    },
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
  };
}

/**
 * Runs a command to completion. For a mistake in the arguments or the environment it prints one line and how to get help; for
 * a failure it prints the message, and the stack only with LOG_LEVEL=debug. Nothing it prints can control the terminal.
 * @returns the exit code: 0 done, 1 failed, 2 wrong usage, unless the command returns another one
 */
export async function runCommand<Config extends Options>(
  { name, usage, options, run }: Command<Config>,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [output, errors] = [escaping(terminal.output), escaping(terminal.errors)];
  const context: CommandContext = {
    ...terminal,
    output,
    errors,
    screen: terminal.output,
    print: (line) => void output.write(`${line}\n`),
    async withDatabase(work) {
      const { db, release } = await terminal.borrowDatabase(terminal.readEnv());
      try {
        return await work(db);
      } finally {
        await release();
      }
    },
  };
  try {
    const parsed = parseArguments(options, args);
    if ((parsed.values as { help?: boolean }).help) {
      context.print(usage);
      return EXIT_DONE;
    }
    return await run(parsed as Parsed<Config>, context);
  } catch (error) {
    return explain(error, name, { ...terminal, errors });
  }
}

/** A signal that aborts on Ctrl-C, or when the reader of standard output has closed the pipe. */
function watchInterrupts(): AbortSignal {
  const stopping = new AbortController();
  let interruptedAt = Number.POSITIVE_INFINITY;
  const onSignal = () => {
    const now = systemClock.now();
    if (now - interruptedAt > SAME_INTERRUPT_MS) process.exit(EXIT_INTERRUPTED);
    interruptedAt = Math.min(interruptedAt, now);
    stopping.abort();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, onSignal);
  process.stdout.on("error", () => stopping.abort());
  return stopping.signal;
}

/** Runs a command with the arguments of this process if the process was started with the module at this URL. */
export async function runAsProcess<Config extends Options>(
  moduleUrl: string,
  command: Command<Config>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  if (process.argv[1] !== fileURLToPath(moduleUrl)) return;
  // The pipe is closed, as with `| head`. The work still runs to its end.
  process.stdout.on("error", () => undefined);
  let stop: AbortSignal | undefined;
  process.exitCode = await runCommand(command, args, {
    output: process.stdout,
    errors: process.stderr,
    clock: systemClock,
    readEnv,
    async borrowDatabase(env) {
      // Imported only by commands that need it, because loading Prisma takes a while.
      const { borrowDatabase } = await import("#server/database/database");
      return borrowDatabase(env, createLog("error"), systemClock);
    },
    stopSignal() {
      stop ??= watchInterrupts();
      return stop;
    },
  });
}
