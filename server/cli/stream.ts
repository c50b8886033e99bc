import { createClient, isSpotwireError, type StreamName, type Timeframe } from "#lib/client/index";
import { STREAMS, TIMEFRAMES } from "#lib/contract/primitives";
import type { Env } from "#lib/env";
import { type CommandContext, defineCommand, runAsProcess } from "./run-command";
import { follow, type StreamCommand } from "./stream-follow";
import { EXIT_DONE, EXIT_FAILED, UsageError } from "./usage-error";

const USAGE = `npm run stream -- <quote|snapshot|kline> TICKERS [options]

  npm run stream -- quote EURUSD,XAUUSD
  npm run stream -- kline EURUSD --timeframe M1 --lines

  --timeframe M1   timeframe of klines: M1, M5, M15, M30, H1, H4, D1, W1 or MN1
  --url URL        address of the service; by default localhost with this environment's PORT
  --key KEY        API key; by default the public demo key, which streams the synthetic sandbox
  --lines          prints one line per record instead of a table; the default if the output is not a terminal

Ctrl-C ends it. Exit code: 0 ended by Ctrl-C, 1 the stream failed, 2 wrong usage.`;

const OPTIONS = {
  timeframe: { type: "string" },
  url: { type: "string" },
  key: { type: "string" },
  lines: { type: "boolean", default: false },
} as const;

const ELSEWHERE = "Is the service running at another URL? Set it with --url, for example --url http://localhost:8080.";

interface Values {
  readonly timeframe?: string;
  readonly url?: string;
  readonly key?: string;
  readonly lines: boolean;
}

function readCommand(values: Values, [name, ...rest]: readonly string[], env: Pick<Env, "PORT" | "DEMO_KEY">): StreamCommand {
  const tickers = rest.flatMap((text) => text.split(",")).filter((text) => text.trim() !== "");
  if (name === undefined) throw new UsageError(`Missing stream: use one of ${STREAMS.join(", ")}.`);
  if (!(STREAMS as readonly string[]).includes(name)) throw new UsageError(`${name}: must be one of ${STREAMS.join(", ")}.`);
  if (tickers.length === 0) throw new UsageError("Missing argument: TICKERS.");
  if (name === "kline" && !(TIMEFRAMES as readonly unknown[]).includes(values.timeframe))
    throw new UsageError(`kline needs --timeframe, one of ${TIMEFRAMES.join(", ")}.`);
  if (name !== "kline" && values.timeframe !== undefined) throw new UsageError("--timeframe works only with kline.");
  const key = values.key ?? env.DEMO_KEY;
  if (key === "off") throw new UsageError("The demo key is switched off here: set --key.");
  if (values.url === undefined && env.PORT === 0) throw new UsageError("PORT=0 does not give the URL of the service: set --url.");
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

async function run(
  { values, positionals }: { values: Values; positionals: readonly string[] },
  context: CommandContext,
): Promise<number> {
  let command: StreamCommand;
  try {
    command = readCommand(values, positionals, context.readEnv());
  } catch (error) {
    // The client checks the key and the address.
    throw isSpotwireError(error) ? new UsageError(error.message) : error;
  }
  const { output, screen, errors, clock } = context;
  const failure = await follow(command, { output, screen, errors, clock, signal: context.stopSignal() });
  if (failure?.id === "network_error") errors.write(`${ELSEWHERE}\n`);
  return failure === undefined ? EXIT_DONE : EXIT_FAILED;
}

/** `npm run stream`. */
export const streamCommand = defineCommand({ name: "stream", usage: USAGE, options: OPTIONS, run });

await runAsProcess(import.meta.url, streamCommand);
