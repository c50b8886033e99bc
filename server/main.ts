import { databaseTime } from "#lib/db";
import { EnvError, readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { connectThroughProxies } from "#lib/outgoing";
import { printable } from "#lib/printable";
import { createSteadyClock } from "#lib/steady-clock";
import { NewerDatabaseError } from "#prisma/migrate";
import { keepJsonOutput } from "./ops/json-output";
import { DRAIN_MAX_MS } from "./ops/shutdown";
import { localAddress, startMessage } from "./ops/start-message";
import { keepTickShape } from "./ops/tick-shape";
import { startService } from "./service";

/**
 * Exit code where starting again cannot help: a wrong configuration, as of a command that is used wrongly, or a database of a newer
 * version. Any other failure is 1.
 */
const IN_VAIN = 2;
/** Exit code where the embedded database ended and could not be started again. Another start of the service may mend it. */
const DATABASE_LOST = 3;

/** Says why a start failed, without a stack: the operator has to fix it. */
function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  const inVain = error instanceof EnvError || error instanceof NewerDatabaseError;
  const debugging = !inVain && env?.LOG_LEVEL === "debug";
  if (process.stderr.isTTY) {
    onTerminal.errors(`\nSpotwire could not start.\n${printable(message)}\n`);
    if (debugging && error instanceof Error) onTerminal.errors(`${error.stack}\n`);
  } else failures.fatal({ ...(debugging && { err: error }) }, `Spotwire could not start. ${message}`);
  process.exit(inVain ? IN_VAIN : 1);
}

/** What is no line of the log, for a reader at a terminal; kept from before only such lines are printed. */
const onTerminal = { output: process.stdout.write.bind(process.stdout), errors: process.stderr.write.bind(process.stderr) };
/** Made before `keepJsonOutput`, past which a new log would be a text of somebody else. */
const failures = createLog("fatal");
let env: ReturnType<typeof readEnv> | undefined;
try {
  keepTickShape();
  env = readEnv();
  connectThroughProxies(env);
  const log = createLog(env.LOG_LEVEL);
  if (env.NODE_ENV !== "development") keepJsonOutput(log);
  const clock = createSteadyClock({ log });
  const ended = new AbortController();
  let leaving = false;
  let service: Awaited<ReturnType<typeof startService>> | undefined;
  /** Stops everything within DRAIN_MAX_MS, then exits with this code. */
  const leave = (code: number) => {
    if (leaving) return;
    leaving = true;
    ended.abort();
    setTimeout(() => {
      log.error({ limit_ms: DRAIN_MAX_MS }, "drain timed out; exiting");
      process.exit(code === 0 ? 1 : code);
    }, DRAIN_MAX_MS).unref();
    void service?.stop().then(() => {
      log.info("stopped");
      process.exit(code);
    });
  };
  const onDatabaseLost = (reason: string) => {
    log.fatal({ reason, exit_code: DATABASE_LOST }, "the embedded database ended and cannot be started again; stopping");
    leave(DATABASE_LOST);
  };
  const running = await startService({ env, log, clock, onDatabaseLost });
  service = running;
  void clock.run({ ask: () => databaseTime(running.db), signal: ended.signal });
  const address = localAddress(running.address);
  log.info({ address, ...(env.DEMO_KEY !== "off" && { demo_key: env.DEMO_KEY }) }, "listening");
  // Anything but a terminal reads JSON lines.
  if (process.stdout.isTTY) onTerminal.output(startMessage(env, address));

  const stop = (signal: string) => {
    if (!leaving) log.info({ signal }, "draining");
    leave(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
} catch (error) {
  fail(error);
}
