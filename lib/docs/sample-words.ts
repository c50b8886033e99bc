/** Address in every sample of the documentation; a reader is shown that of the service they read on. */
export const SAMPLE_BASE = "http://localhost:3000";
/** The public demo key in every sample; a reader is shown the one of the service they read on. */
export const SAMPLE_KEY = "sw_test_DEMOkeyOfSpotwireForEveryone000ID0Y9";
