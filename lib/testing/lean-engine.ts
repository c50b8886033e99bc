import { setFlagsFromString } from "node:v8";

/**
 * Thirty times V8's own. Most functions of a test run are called too seldom to pay for the compiler that optimizes them, which
 * takes a sixth of the processor time of the tests.
 */
const OPTIMIZE_AFTER_BYTES = 2_000_000;

setFlagsFromString(`--interrupt-budget=${OPTIMIZE_AFTER_BYTES}`);
