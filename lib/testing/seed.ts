import fc from "fast-check";

/** The variable with the seed of all properties. */
export const SEED = "SPOTWIRE_TEST_SEED";

// The same values in every run, so that a change is what made a test fail. `npm run test:all` takes others each time.
fc.configureGlobal({ seed: Number(process.env[SEED] ?? 1) });
