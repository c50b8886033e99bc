import { execFile, type SpawnOptions } from "node:child_process";
import { chown, readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import type { Binaries } from "./binaries";

const run = promisify(execFile);

/** The database does not inherit our environment, which may contain secrets and misleading locale or PG* variables. */
const CHILD_ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/** Runs PostgreSQL's programs as a user that PostgreSQL accepts. */
export interface Runner {
  /** PostgreSQL's version, for example "18.4". */
  readonly version: string;
  /** File, arguments and options for spawn. */
  command(file: string, args: readonly string[]): { file: string; args: string[]; options: SpawnOptions };
  /** Makes that user the owner of a file or directory. */
  own(file: string): Promise<void>;
}

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** A way to start a program: the command in front of it, and the user. */
interface Way {
  readonly prefix: readonly string[];
  readonly identity: Identity | undefined;
}

/** Looks up a user by name in /etc/passwd. */
async function findUser(name: string): Promise<Identity | undefined> {
  const lines = (await readFile("/etc/passwd", "utf8").catch(() => "")).split("\n");
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** The user who runs the database if this process runs as root: the owner of the cluster, else postgres, else nobody. */
async function unprivileged(cluster: string): Promise<Identity> {
  const owner = await stat(cluster).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const user = (await findUser("postgres")) ?? (await findUser("nobody"));
  if (user === undefined)
    throw new Error(
      "PostgreSQL does not run as root, and there is neither a user postgres nor nobody. Start as an ordinary user.",
    );
  return user;
}

/**
 * Tries a plain change of user first. That user cannot enter a checkout or data directory below a private one (/root is 0700),
 * so the next ways keep one capability, to traverse directories. Containers often grant only the wider of the two.
 */
function ways(identity: Identity): Way[] {
  const { uid, gid } = identity;
  const keeping = (capability: string): Way => ({
    prefix: [
      "setpriv",
      `--reuid=${uid}`,
      `--regid=${gid}`,
      "--clear-groups",
      // Without it access(2), with which initdb looks for its files, ignores the capability.
      "--securebits=+no_setuid_fixup",
      `--inh-caps=-all,+${capability}`,
      `--ambient-caps=-all,+${capability}`,
    ],
    identity: undefined,
  });
  return [{ prefix: [], identity }, keeping("dac_read_search"), keeping("dac_override")];
}

function commandOf({ prefix, identity }: Way, file: string, args: readonly string[]) {
  const [first = file, ...rest] = [...prefix, file, ...args];
  return { file: first, args: rest, options: { env: CHILD_ENV as unknown as NodeJS.ProcessEnv, cwd: "/", ...identity } };
}

/** PostgreSQL's version if this way can run it and enter the data directory, else the reason. */
async function probe(way: Way, dataDir: string, postgres: string): Promise<{ version: string } | { reason: string }> {
  const script = 'cd -- "$1" && test -x "$2" && exec "$2" --version';
  const { file, args, options } = commandOf(way, "/bin/sh", ["-c", script, "probe", dataDir, postgres]);
  try {
    const { stdout } = await run(file, args, options);
    return { version: /(\d+(\.\d+)*)/.exec(stdout)?.[1] ?? "" };
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return { reason: stderr?.trim() || message };
  }
}

/**
 * Finds a way to run PostgreSQL on this machine: directly as an ordinary user, or through an unprivileged user if this process
 * runs as root, which PostgreSQL rejects.
 * @throws Error with the reason why each way failed.
 */
export async function findRunner(dataDir: string, cluster: string, binaries: Binaries): Promise<Runner> {
  const identity = process.getuid?.() === 0 ? await unprivileged(cluster) : undefined;
  const reasons = new Set<string>();
  for (const way of identity === undefined ? [{ prefix: [], identity }] : ways(identity)) {
    const outcome = await probe(way, dataDir, binaries.postgres);
    if ("version" in outcome)
      return {
        version: outcome.version,
        command: (file, args) => commandOf(way, file, args),
        own: async (file) => {
          if (identity !== undefined) await chown(file, identity.uid, identity.gid);
        },
      };
    reasons.add(outcome.reason);
  }
  const who = identity === undefined ? "this user" : `user ${identity.uid} (PostgreSQL does not run as root)`;
  throw new Error(
    `The embedded PostgreSQL cannot run as ${who} with the data directory ${dataDir}: ${[...reasons].join("; ")}. Use directories that user can enter, start as an ordinary user, or set DATABASE_URL.`,
  );
}
