import { systemClock } from "#lib/clock";
import { readEnv } from "#lib/env";
import { createLog } from "#lib/log";
import { localAddress } from "#server/ops/start-message";
import { startService } from "#server/service";
import { benchKeys } from "./keys";
import { answerMemory } from "./stream-memory";
import { createUncounted } from "./uncounted";

/** Starts the service with keys without effective limits. Argument `next` sends REST through Next, `uncounted` counts no usage. */

const env = readEnv();
const log = createLog(env.LOG_LEVEL);
const way = process.argv[2];
const accounting = way === "uncounted" ? { usageOf: createUncounted } : {};
const service = await startService({ env, log, clock: systemClock, direct: way !== "next", ...accounting });
answerMemory();
const keys = await benchKeys(service.db);
process.stdout.write(`${keys.join("\n")}\nlistening on ${localAddress(service.address)}\n`);
process.on("SIGTERM", () => void service.stop().then(() => process.exit(0)));
