/** Base URL in every sample. Pages replace it with the URL of the service the reader is on. */
export const SAMPLE_BASE = "http://localhost:3000";
/** Demo key in every sample. Pages replace it with the demo key of the service the reader is on. */
export const SAMPLE_KEY = "sw_test_DEMOkeyOfSpotwireForEveryone000ID0Y9";
