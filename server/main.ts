import { brandOf } from "#lib/brand";
import { createLog } from "#lib/log";
import { printable } from "#lib/printable";
import { createSteadyClock } from "#lib/steady-clock";
import type { OtherVersionError } from "#prisma/migrate";
import { connectThroughProxies } from "#server/outgoing/proxy";
import { type EnvError, readEnv } from "./env";
import { createNode, isRole, kindOf, partsOf } from "./node";
import { DRAIN_MAX_MS } from "./ops/shutdown";
import { keepTickShape } from "./ops/tick-shape";
import { PARTS, rolesOf } from "./parts";
import { keepJsonOutput } from "./processes/json-output";

/**
 * Exit code where starting again cannot help: a wrong configuration, as of a command that is used wrongly, or a database of another
 * version. Any other failure is 1.
 */
const IN_VAIN = 2;
const IN_VAIN_ERRORS: ReadonlySet<string> = new Set<(EnvError | OtherVersionError)["name"]>(["EnvError", "OtherVersionError"]);

/** Says why a start failed, without a stack: the operator has to fix it. For a process that has a parent, that one says so. */
function fail(error: unknown): never {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const inVain = IN_VAIN_ERRORS.has(name);
  const debugging = !inVain && env?.LOG_LEVEL === "debug";
  if (isChild && !debugging) process.exit(1);
  if (process.stderr.isTTY) {
    onTerminal.errors(`\nSpotwire could not start.\n${printable(message)}\n`);
    if (debugging) onTerminal.errors(`${stack}\n`);
  } else failures.fatal({ ...(debugging && { err: error }) }, `Spotwire could not start. ${message}`);
  process.exit(inVain ? IN_VAIN : 1);
}

/** What is no line of the log, for a reader at a terminal; kept from before only such lines are printed. */
const onTerminal = { output: process.stdout.write.bind(process.stdout), errors: process.stderr.write.bind(process.stderr) };
/** Made before `keepJsonOutput`, past which a new log would be a text of somebody else. */
const failures = createLog("fatal");
/** The roles of a process that the market process has started. */
const given = process.argv.slice(2).filter(isRole);
const isChild = given.length > 0;
let env: ReturnType<typeof readEnv> | undefined;
let leaving = false;
try {
  keepTickShape();
  env = readEnv();
  connectThroughProxies(env);
  const roles = isChild ? given : rolesOf(env);
  const kind = kindOf(roles);
  const log = isChild ? createLog(env.LOG_LEVEL).child({ process: kind }) : createLog(env.LOG_LEVEL);
  // In development Next says on the terminal what it compiles.
  if (env.NODE_ENV !== "development") keepJsonOutput(log);
  const clock = createSteadyClock({ log });
  /** Stops everything within DRAIN_MAX_MS, then exits with this code. */
  const leave = (code: number) => {
    if (leaving) return;
    leaving = true;
    setTimeout(() => {
      log.error({ limit_ms: DRAIN_MAX_MS }, "drain timed out; exiting");
      process.exit(code === 0 ? 1 : code);
    }, DRAIN_MAX_MS).unref();
    void node.stop().then(() => {
      if (!isChild) log.info("stopped");
      process.exit(code);
    });
  };
  // Anything but a terminal reads JSON lines.
  const print = (text: string) => void (process.stdout.isTTY && onTerminal.output(text));
  const node = createNode({ env, brand: brandOf(env), kind, clock, log, leave, print }, partsOf(PARTS, roles));
  const onSignal = (signal: NodeJS.Signals) => {
    // Ctrl-C reaches all processes of a node; the market process tells the others when to stop.
    if (isChild && signal === "SIGINT") return;
    if (!isChild && !leaving) log.info({ signal }, "draining");
    leave(0);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  // Without its parent nobody can reach it.
  if (isChild) process.on("disconnect", () => process.exit(0));
  await node.start();
} catch (error) {
  if (!leaving) fail(error);
}
