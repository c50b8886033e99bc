import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createClient, isSpotwireError, type StreamName, type Timeframe } from "#lib/client/index";
import { systemClock } from "#lib/clock";
import { STREAMS, TIMEFRAMES } from "#lib/contract/primitives";
import { type Env, EnvError, readEnv } from "#lib/env";
import { follow, type StreamCommand, type StreamTerminal } from "./stream-follow";

const USAGE = `npm run stream -- <quote|snapshot|kline> TICKERS [options]

  npm run stream -- quote EURUSD,XAUUSD
  npm run stream -- kline EURUSD --timeframe M1 --lines

  --timeframe M1   of klines: M1, M5, M15, M30, H1, H4, D1, W1 or MN1
  --url URL        address of the service, this machine's own port unless given
  --key KEY        the public demo key unless given; it streams the synthetic sandbox
  --lines          one line a record in place of the table; always so where the output is no terminal

Ctrl-C ends it. Exit code: 0 when ended so, 1 when the stream failed, 2 for a wrong command.`;

const OPTIONS = {
  timeframe: { type: "string" },
  url: { type: "string" },
  key: { type: "string" },
  lines: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

const ELSEWHERE = "Is the service running, and at another address? Give it with --url, for example --url http://localhost:8080.";
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** What was typed wrongly; shown without a stack. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

function readCommand(args: readonly string[], env: Pick<Env, "PORT" | "DEMO_KEY">): StreamCommand | undefined {
  const { values, positionals } = parse(args);
  if (values.help || positionals.length === 0) return undefined;
  const [name = "", ...rest] = positionals;
  const tickers = rest.flatMap((text) => text.split(",")).filter((text) => text.trim() !== "");
  if (!(STREAMS as readonly string[]).includes(name)) throw new UsageError(`${name}: must be one of ${STREAMS.join(", ")}.`);
  if (tickers.length === 0) throw new UsageError("Name at least one ticker, for example EURUSD,XAUUSD.");
  if (name === "kline" && !(TIMEFRAMES as readonly unknown[]).includes(values.timeframe))
    throw new UsageError(`kline needs --timeframe, one of ${TIMEFRAMES.join(", ")}.`);
  if (name !== "kline" && values.timeframe !== undefined) throw new UsageError("--timeframe is for kline alone.");
  const key = values.key ?? env.DEMO_KEY;
  if (key === "off") throw new UsageError("The demo key is switched off here: give a --key.");
  if (values.url === undefined && env.PORT === 0) throw new UsageError("PORT=0 does not say where the service is: give a --url.");
  const url = values.url ?? `http://localhost:${env.PORT}`;
  const timeframe = values.timeframe as Timeframe | undefined;
  return {
    selection: { stream: name as StreamName, tickers, timeframe },
    title: timeframe === undefined ? name : `${name} ${timeframe}`,
    url,
    client: createClient({ baseUrl: url, key }),
    lines: values.lines,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Runs the command to its end.
 * @returns its exit code: 0 when it was ended, 1 when the stream failed, 2 for what was typed wrongly
 */
export async function runStream(
  args: readonly string[],
  env: Pick<Env, "PORT" | "DEMO_KEY">,
  terminal: StreamTerminal,
): Promise<number> {
  try {
    const command = readCommand(args, env);
    if (command === undefined) {
      terminal.output.write(`${USAGE}\n`);
      return 0;
    }
    const failure = await follow(command, terminal);
    if (failure?.id === "network_error") terminal.errors.write(`${ELSEWHERE}\n`);
    return failure === undefined ? 0 : EXIT_FAILED;
  } catch (error) {
    if (!(error instanceof UsageError) && !isSpotwireError(error)) throw error;
    terminal.errors.write(`${error.message}\n`);
    return EXIT_USAGE;
  }
}

async function main(): Promise<void> {
  const ended = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ended.abort());
  // Whoever read the lines has gone (`| head`).
  process.stdout.on("error", () => ended.abort());
  const terminal = { output: process.stdout, errors: process.stderr, clock: systemClock, signal: ended.signal };
  process.exitCode = await runStream(process.argv.slice(2), readEnv(), terminal);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  main().catch((error: unknown) => {
    if (!(error instanceof EnvError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_USAGE;
  });
