import { randomBytes } from "node:crypto";
import { chmod, link, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Env } from "#lib/env";
import { EnvError } from "#server/env";
import { requireWritable } from "./unwritable";

const SECRET_BYTES = 48;
/** Readable by the owner alone. */
const SECRET_MODE = 0o600;
const FILE_NAME = "nextauth-secret";

/** Secrets for signing and encryption. Never logged, never sent. */
interface Secrets {
  /** Signs sign-in cookies and portal tokens. */
  readonly nextAuth: string;
}

type SecretsEnv = Pick<Env, "NODE_ENV" | "DATABASE_URL" | "DATA_DIR" | "NEXTAUTH_SECRET">;

async function readSecret(path: string): Promise<string | undefined> {
  try {
    const secret = (await readFile(path, "utf8")).trim();
    await chmod(path, SECRET_MODE);
    return secret;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Writes a secret beside its place, and puts it there with `place`. */
async function writeSecret(
  folder: string,
  secret: string,
  place: (draft: string, path: string) => Promise<void>,
): Promise<string> {
  await requireWritable(folder, "DATA_DIR");
  const path = join(folder, FILE_NAME);
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  const file = await open(draft, "wx", SECRET_MODE);
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
    await place(draft, path);
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
  return path;
}

/** Makes a secret. Of two processes that start at the same time, both get the first one. */
async function makeSecret(folder: string): Promise<string> {
  const made = randomBytes(SECRET_BYTES).toString("base64url");
  const path = await writeSecret(folder, made, (draft, place) =>
    link(draft, place).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    }),
  );
  return (await readSecret(path)) ?? "";
}

/** Puts the secret of a restored installation into DATA_DIR, in place of one that is there. @returns the path of its file */
export const keepSecret = (folder: string, secret: string): Promise<string> => writeSecret(folder, secret, rename);

/** The secret of this installation if it has one; never makes one. */
export async function findSecret({ DATA_DIR, NEXTAUTH_SECRET }: Pick<SecretsEnv, "DATA_DIR" | "NEXTAUTH_SECRET">) {
  return NEXTAUTH_SECRET ?? (await readSecret(join(DATA_DIR, FILE_NAME)));
}

/**
 * Reads the secrets of this installation from the environment; without them, they are generated at the first start and kept in
 * DATA_DIR.
 * @throws EnvError in production with an external database, where several nodes must share the secrets, and when DATA_DIR cannot
 * be written
 */
export async function acquireSecrets({ NODE_ENV, DATABASE_URL, DATA_DIR, NEXTAUTH_SECRET }: SecretsEnv): Promise<Secrets> {
  if (NEXTAUTH_SECRET !== undefined) return { nextAuth: NEXTAUTH_SECRET };
  if (NODE_ENV === "production" && DATABASE_URL !== undefined)
    throw new EnvError(
      "Wrong configuration:\n  `NEXTAUTH_SECRET` is required in production with DATABASE_URL, with the same value on every node. Make one: openssl rand -base64 48",
    );
  const path = join(DATA_DIR, FILE_NAME);
  return { nextAuth: (await readSecret(path)) ?? (await makeSecret(DATA_DIR)) };
}
