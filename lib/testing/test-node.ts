import { spawnSync } from "node:child_process";
import path from "node:path";
import { NODES, toolNode } from "./tools";

/** The command `npm run test:node -- MAJOR …`: runs the tests with this Node; what follows goes to vitest. Built before with any Node. */

const [, , major = "", ...args] = process.argv;
const wanted = NODES.find((one) => one === major);
if (wanted === undefined) throw new Error(`Name the Node to test with: ${NODES.join(", ")}.`);
const node = await toolNode(wanted);

// What tests start by the name "node", such as npx and samples, is this Node, too.
const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` };
const vitest = path.join("node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(node, [vitest, "run", ...args], { stdio: "inherit", env });
process.exitCode = status ?? 1;
