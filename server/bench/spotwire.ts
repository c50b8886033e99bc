import { systemClock } from "#lib/clock";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { localAddress } from "#server/ops/start-message";
import { startService } from "#server/service";
import { benchKeys } from "./keys";
import { answerMemory } from "./stream-memory";
import { createUncounted } from "./uncounted";

/** Starts the service with keys without effective limits. Argument `uncounted` counts no usage. */

const env = readEnv();
const log = createLog(env.LOG_LEVEL);
const accounting = process.argv[2] === "uncounted" ? { usageOf: createUncounted } : {};
const service = await startService({ env, log, clock: systemClock, ...accounting });
answerMemory();
const keys = await benchKeys(service.db);
process.stdout.write(`${keys.join("\n")}\nlistening on ${localAddress(service.address)}\n`);
process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
