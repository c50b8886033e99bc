import { readFileSync } from "node:fs";

/** Clock ticks a second in /proc, fixed on Linux. */
const PROC_HZ = 100;

/** Processor times of a process, from proc(5): its own, and those of its children that have ended. */
function timesOf(pid: number | "self"): { readonly own: number; readonly ended: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map((ticks) => Number(ticks) / PROC_HZ);
  return { own: Number(user) + Number(system), ended: Number(endedUser) + Number(endedSystem) };
}

/** Processor seconds that a process has used. @throws Error without /proc, or when it has ended */
export const processorSeconds = (pid: number): number => timesOf(pid).own;

/** Processor seconds of the children of this process that have ended. @throws Error without /proc */
export const endedChildrenSeconds = (): number => timesOf("self").ended;
