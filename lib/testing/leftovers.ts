import { execFileSync, spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { RESULTS_FILE } from "./total-reporter";

/** The variable that every process of a test run inherits. Its value names the folder, and the run by the id of its process. */
const MARK = "SPOTWIRE_TEST_RUN";

/** How often a run looks whether what started it is there. */
const LOOK_MS = 1_000;

/**
 * Ends every process whose environment contains a text. PostgreSQL is told to quit at once, so that it gives back the memory that it
 * shares. Twice: a process may start another one while it is looked for.
 */
const END = `for round in 1 2; do
  for file in $(grep -lsaF "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}; pid=\${pid%/environ}
    read -r name < /proc/$pid/comm 2> /dev/null || continue
    case $name in postgres) kill -QUIT $pid ;; *) kill -KILL $pid ;; esac
  done 2> /dev/null
done`;

/** What marks the processes of earlier runs in this folder whose own process is gone. */
function marksOfDeadRuns(folder: string): string[] {
  let lines: string;
  try {
    lines = execFileSync(
      "sh",
      ["-c", `cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep -aF "$1" | sort -u`, "sh", folder],
      {
        encoding: "utf8",
      },
    );
  } catch {
    return [];
  }
  return lines.split("\n").filter((mark) => mark !== "" && !existsSync(`/proc/${mark.split(":").at(-1)}`));
}

/**
 * Runs once before all tests: ends what an earlier run of this folder left, and sees to it that nothing is left of this one, even when
 * it is killed. Only on Linux, which shows the environment of processes.
 */
export default function setup(): (() => void) | undefined {
  if (!existsSync("/proc/self/environ")) return undefined;
  const ofFolder = `${MARK}=${realpathSync(".")}:`;
  for (const mark of marksOfDeadRuns(ofFolder)) execFileSync("sh", ["-c", END, "sh", mark]);
  const mark = `${ofFolder}${process.pid}`;
  // In a session of its own, so that a signal to the group of this run does not end it. Its input ends with this process.
  const watch = spawn("sh", ["-c", `cat > /dev/null\n${END}`, "sh", mark], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watch.unref();
  const starter = process.ppid;
  // `npm test` may be killed alone. A run that was started otherwise goes on, because it may be left to itself on purpose.
  if (process.env[RESULTS_FILE] !== undefined)
    setInterval(() => process.ppid !== starter && process.kill(process.pid, "SIGKILL"), LOOK_MS).unref();
  process.env[MARK] = mark.slice(MARK.length + 1);
  return () => void watch.stdin?.end();
}
