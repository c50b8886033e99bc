import { postInstall } from "fumadocs-mdx/next";

/** Writes Fumadocs' list of all pages of the docs. It says on stdout how long that took, with which every command would begin. */
export async function listPages(): Promise<void> {
  const { log } = console;
  console.log = () => undefined;
  try {
    await postInstall({ configPath: "lib/docs/source.config.ts", outDir: "lib/generated/docs" });
  } finally {
    console.log = log;
  }
}
