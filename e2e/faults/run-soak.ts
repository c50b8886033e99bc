import { startVitest } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** How long the soak lasts, seconds. */
    soakS: number;
  }
}

const DEFAULT_S = 600;
/** Beside the soak itself: start, the last comparison, stop. */
const AROUND_S = 300;

const soakS = Number(process.argv[2] ?? DEFAULT_S);
if (!Number.isInteger(soakS) || soakS < 30) {
  process.stderr.write("npm run soak -- [seconds]: a whole number of at least 30; 600 unless given\n");
  process.exit(2);
}
await startVitest("test", [], {
  watch: false,
  // Without the lanes of `npm test`, which know nothing of this file.
  config: false,
  include: ["e2e/faults/soak.ts"],
  testTimeout: (soakS + AROUND_S) * 1000,
  provide: { soakS },
});
