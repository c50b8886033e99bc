import { setFlagsFromString } from "node:v8";

/**
 * Thirty times V8's default. A test run calls most functions too rarely for optimizing them to pay off, and the optimizing
 * compiler took a seventh of the processor time of the unit tests.
 */
const OPTIMIZE_AFTER_BYTES = 2_000_000;

/** From this V8 on, of Node 22, calls are counted and not bytes. It would complain of the flag in each process. */
const COUNTING_V8 = 12;

if (Number.parseInt(process.versions.v8, 10) < COUNTING_V8) setFlagsFromString(`--interrupt-budget=${OPTIMIZE_AFTER_BYTES}`);
