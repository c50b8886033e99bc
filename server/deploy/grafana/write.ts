import { writeFileSync } from "node:fs";
import { defineCommand, runAsProcess, wordsOf } from "#server/cli/run-command";
import { EXIT_DONE } from "#server/cli/usage-error";
import { dashboardText } from "./dashboard";

const FILE = "server/deploy/grafana/spotwire.json";

/** `npm run docs:dashboard`. */
const dashboardCommand = defineCommand({
  name: "docs:dashboard",
  usage: `npm run docs:dashboard\n\n  Writes ${FILE}, the dashboard for Grafana, from the panels beside it.`,
  options: {},
  run({ positionals }) {
    wordsOf(positionals);
    writeFileSync(FILE, dashboardText());
    return EXIT_DONE;
  },
});

await runAsProcess(import.meta.url, dashboardCommand);
