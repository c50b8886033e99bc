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

const soakS = Number(process.argv[2] ?? DEFAULT_S);
if (!Number.isInteger(soakS) || soakS < 30) {
  process.stderr.write("npm run soak -- [seconds]: a whole number of at least 30; default 600\n");
  process.exit(2);
}
await startVitest("test", [], {
  watch: false,
  // Without the projects of `npm test`, which do not include this file.
  config: false,
  include: ["e2e/faults/soak.ts"],
  testTimeout: (soakS + AROUND_S) * 1000,
  provide: { soakS },
});
