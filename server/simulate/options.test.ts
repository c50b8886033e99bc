import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { parseArguments } from "#server/cli/run-command";
import { OPTIONS, readOptions } from "./options";

const optionsOf = (...args: string[]) => readOptions(parseArguments(OPTIONS, args).values);

test("every option of npm run simulate has a default", () => {
  expect(optionsOf()).toEqual({
    scene: {
      ...{
        tickers: 40,
        ticksPerSecond: 10,
        clients: 1000,
        subscriptions: 10,
        stream: "quote",
        slow: 0.02,
        seconds: 60,
        edges: 2,
      },
    },
    target: { connections: 1_000_000, messageUs: undefined, followUs: undefined, connectionBytes: undefined },
  });
});

test("costs measured with sockets replace simulated ones", () => {
  const options = optionsOf("--message-us", "2.1", "--follow-us", "190", "--connection-bytes", "6349");
  expect(options.target).toMatchObject({ messageUs: 2.1, followUs: 190, connectionBytes: 6349 });
});

test.each([
  [["--edges", "0"], "--edges 0: must be a whole number from 1 to 64."],
  [["--edges", "65"], "--edges 65: must be a whole number from 1 to 64."],
  [["--clients", "many"], "--clients many: must be a whole number from 1 to 200000."],
  [["--clients", ""], "--clients : must be a whole number from 1 to 200000."],
  [["--seconds", "1.5"], "--seconds 1.5: must be a whole number from 1 to 3600."],
  [["--message-us", "0"], "--message-us 0: must be a number from 0.01 to 1000."],
  [["--slow", "2"], "--slow 2: must be a share from 0 to 1."],
  [["--stream", "trades"], "--stream trades: must be one of quote, kline, snapshot."],
  [["--subscriptions", "41"], "--subscriptions 41: there are only 40 tickers (--tickers)."],
])("npm run simulate rejects %j with one line", (args, line) => {
  expect(() => optionsOf(...args)).toThrow(line);
});

test("npm run simulate names an unknown argument", () => {
  expect(() => optionsOf("--nodes", "2")).toThrow("Unknown option '--nodes'.");
});

test("npm run simulate prints one line without a stack for wrong usage, and exits with 2", () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["--import", "tsx", "server/simulate/main.ts", "--edges", "0"], {
    encoding: "utf8",
  });
  expect({ status, stderr, stdout }).toEqual({
    status: 2,
    stderr: '--edges 0: must be a whole number from 1 to 64.\nRun "npm run simulate -- --help" for usage.\n',
    stdout: "",
  });
});
