import { writeFileSync } from "node:fs";
import { recordAnswers } from "./recorded-answers";
import { startProduct } from "./server";

/** npm run docs:examples: writes the answers shown in the documentation, recorded from a sandbox of this checkout. */
const product = await startProduct({ LIVE_FEED: "push" });
try {
  const answers = await recordAnswers(product);
  writeFileSync(new URL("../lib/docs/reference/recorded.json", import.meta.url), `${JSON.stringify(answers, null, 2)}\n`);
} finally {
  await product.dispose();
}
