import { homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * The folder where tests keep what is slow to compile or to install, outside the project: `npm ci` empties node_modules, and each
 * test run would start from nothing. It follows XDG_CACHE_HOME. The folder may not exist yet.
 */
export function cacheFolder(name: string): string {
  return join(resolve(process.env.XDG_CACHE_HOME || join(homedir(), ".cache")), "spotwire", name);
}
