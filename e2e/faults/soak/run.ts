import { startVitest } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Duration of the soak, seconds. */
    soakS: number;
  }
}

const DEFAULT_S = 600;
/** In addition to the soak itself: start, final comparison, stop. */
const AROUND_S = 300;
const SOAKS = ["cluster", "pages"];
const USAGE = `npm run soak -- [${SOAKS.join("|")}] [seconds]: a whole number of at least 60; default: both, ${DEFAULT_S}\n`;

const args = process.argv.slice(2);
const chosen = SOAKS.filter((name) => args.includes(name));
const numbers = args.filter((arg) => !SOAKS.includes(arg));
const soakS = Number(numbers[0] ?? DEFAULT_S);
if (!Number.isInteger(soakS) || soakS < 60 || numbers.length > 1) {
  process.stderr.write(USAGE);
  process.exit(2);
}
await startVitest("test", [], {
  watch: false,
  // Without the projects of `npm test`, which do not include these files.
  config: false,
  include: (chosen.length > 0 ? chosen : SOAKS).map((name) => `e2e/faults/soak/${name}.ts`),
  fileParallelism: false,
  testTimeout: (soakS + AROUND_S) * 1000,
  provide: { soakS },
});
