import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { Fault } from "#lib/fault";
import { importCommand } from "#server/import/index";
import { commandOutcome } from "#server/testing/terminal";
import { adminCommand } from "./admin";
import { backupCommand, restoreCommand } from "./backup";
import { dataCommand } from "./data";
import { historyCommand } from "./history";
import { instrumentsCommand } from "./instruments";
import { keysCommand } from "./keys";
import { defineCommand, type Terminal } from "./run-command";
import { streamCommand } from "./stream";

type Outcome = (args: readonly string[], options?: Parameters<typeof commandOutcome>[2]) => ReturnType<typeof commandOutcome>;

/** Every command with a correct command line and one with a missing argument. */
const COMMANDS: readonly [name: string, outcome: Outcome, correct: string, lacking: string, error: string][] = [
  ["keys", (...call) => commandOutcome(keysCommand, ...call), "list", "rotate", "Missing argument: ID."],
  ["admin", (...call) => commandOutcome(adminCommand, ...call), "list", "grant", "Missing argument: EMAIL."],
  ["import", (...call) => commandOutcome(importCommand, ...call), "ticks.csv", "", "Missing argument: FILE."],
  ["data", (...call) => commandOutcome(dataCommand, ...call), "check EURUSD", "check", "Missing argument: TICKER."],
  [
    "history",
    (...call) => commandOutcome(historyCommand, ...call),
    "check",
    "",
    "Missing command: use one of check, move, clean.",
  ],
  ["instruments", (...call) => commandOutcome(instrumentsCommand, ...call), "list", "retire", "Missing argument: TICKER."],
  ["backup", (...call) => commandOutcome(backupCommand, ...call), "", "--to", "Option '--to <value>' argument missing."],
  ["restore", (...call) => commandOutcome(restoreCommand, ...call), "a.backup", "", "Missing argument: FILE."],
  ["stream", (...call) => commandOutcome(streamCommand, ...call), "quote EURUSD", "quote", "Missing argument: TICKERS."],
];
const wordsOf = (line: string) => line.split(" ").filter(Boolean);

test.each(COMMANDS)("npm run %s names a wrong environment variable and exits with 2", async (_, outcome, correct) => {
  const { exitCode, output, errors } = await outcome(wordsOf(correct), { variables: { PORT: "abc" } });
  expect(errors).toMatch(/^Wrong configuration:\n {2}`PORT` [^\n]*$/);
  expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
});

test.each(COMMANDS)(
  "npm run %s names a missing argument in one line and exits with 2",
  async (name, outcome, _, lacking, error) => {
    expect(await outcome(wordsOf(lacking))).toEqual({
      exitCode: 2,
      output: "",
      errors: `${error}\nRun "npm run ${name} -- --help" for usage.`,
    });
  },
);

test.each(COMMANDS)("npm run %s rejects an unknown option and exits with 2", async (_, outcome, correct) => {
  const { exitCode, errors } = await outcome([...wordsOf(correct), "--nonsense"]);
  expect(errors).toMatch(/^Unknown option '--nonsense'\.\nRun /);
  expect(exitCode).toBe(2);
});

test.each(COMMANDS)("npm run %s prints its usage with --help, in any environment, and exits with 0", async (name, outcome) => {
  const { exitCode, output, errors } = await outcome(["--help"], { variables: { PORT: "abc" } });
  expect(output).toContain(`npm run ${name} --`);
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
});

/** A command that fails with this error. */
const failing = (error: unknown) =>
  defineCommand({
    name: "fail",
    usage: "",
    options: {},
    async run(_, { withDatabase }) {
      return withDatabase(async () => {
        throw error;
      });
    },
  });

/** A terminal with a database that counts how often it was released. */
function countingDatabase() {
  const released = { count: 0 };
  const borrowDatabase: Terminal["borrowDatabase"] = async () => ({
    db: undefined as never,
    async release() {
      released.count += 1;
    },
  });
  return { released, borrowDatabase };
}

test("a command that fails prints only the message, exits with 1 and releases its database", async () => {
  const { released, borrowDatabase } = countingDatabase();
  const { exitCode, errors } = await commandOutcome(failing(new Error("The disk is full.")), [], { borrowDatabase });
  expect({ exitCode, errors }).toEqual({ exitCode: 1, errors: "The disk is full." });
  expect(released.count).toBe(1);
});

test("a command that fails prints its stack with LOG_LEVEL=debug", async () => {
  const { borrowDatabase } = countingDatabase();
  const options = { borrowDatabase, variables: { LOG_LEVEL: "debug" } };
  const { errors } = await commandOutcome(failing(new Error("The disk is full.")), [], options);
  expect(errors).toMatch(/^The disk is full\.\nError: The disk is full\.\n +at /);
});

test("a connection refused at several addresses is explained although the error has no message", async () => {
  const { borrowDatabase } = countingDatabase();
  const refused = new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("connect ECONNREFUSED 127.0.0.1:1")]);
  const { errors } = await commandOutcome(failing(refused), [], { borrowDatabase });
  expect(errors).toBe("connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1");
});

test.each([
  ["invalid_parameter", 2],
  ["service_unavailable", 1],
] as const)("a command that ends with the fault %s exits with %i", async (id, code) => {
  const { borrowDatabase } = countingDatabase();
  const fault = new Fault(id, { detail: "`plan` must be one of free, pro." });
  const { exitCode, errors } = await commandOutcome(failing(fault), [], { borrowDatabase });
  expect({ exitCode, errors }).toEqual({ exitCode: code, errors: "`plan` must be one of free, pro." });
});

test("a command run as a process exits with 2 for PORT=abc and prints no stack", () => {
  const args = ["PORT=abc", process.execPath, "--import", "tsx", "server/cli/keys.ts", "list"];
  const { status, stdout, stderr } = spawnSync("env", args, { encoding: "utf8" });
  expect(stderr).toMatch(/^Wrong configuration:\n {2}`PORT` [^\n]*\n$/);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});

test("nothing that a command prints can control the terminal, neither its output nor its errors", async () => {
  const evil = "\u001b]0;owned\u0007 \u009b2J \u202egpj.exe\r";
  const shown = "\\x1b]0;owned\\x07 \\x9b2J \\u202egpj.exe\\x0d";
  const command = defineCommand({
    name: "evil",
    usage: "",
    options: {},
    run(_, { print, output, errors }) {
      print(`printed ${evil}`);
      output.write(`written ${evil}\tthen\n`);
      errors.write(`warned ${evil}\n`);
      throw new Error(`failed ${evil}`);
    },
  });
  expect(await commandOutcome(command, [])).toEqual({
    exitCode: 1,
    output: `printed ${shown}\nwritten ${shown}\tthen`,
    errors: `warned ${shown}\nfailed ${shown}`,
  });
});
