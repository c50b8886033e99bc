import { spawnSync } from "node:child_process";
import { toolProgram } from "./tools";

/** The command `tool.ts NAME …`: runs a program of the list "check", with the arguments that follow. */

const [, , name = "", ...args] = process.argv;
const { status } = spawnSync(process.execPath, [await toolProgram("check", name), ...args], { stdio: "inherit" });
process.exitCode = status ?? 1;
