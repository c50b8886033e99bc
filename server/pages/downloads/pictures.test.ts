import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { docsPicture } from "./pictures";

const FOLDER = path.join("lib", "docs", "pictures");
const GUIDES = path.join("lib", "docs", "guides");
const USED = /\(\/docs-pictures\/([^)]+)\)/g;

const used = readdirSync(GUIDES)
  .filter((name) => name.endsWith(".mdx"))
  .flatMap((name) => [...readFileSync(path.join(GUIDES, name), "utf8").matchAll(USED)].map(([, file = ""]) => file));

test("every picture of a guide is there in the size that the page reserves, and no other", async () => {
  expect(used.toSorted()).toEqual(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith(".png"))
      .toSorted(),
  );
  for (const name of used) {
    const answer = await docsPicture(name);
    const bytes = Buffer.from(await answer.arrayBuffer());
    // Width and height of a PNG stand at these places.
    expect([answer.status, bytes.readUInt32BE(16), bytes.readUInt32BE(20)], name).toEqual([200, 1440, 720]);
  }
});

test.each(["make.py", "../pictures.ts", "none.png", ""])("nothing else is sent as a picture: %s", async (name) => {
  expect((await docsPicture(name)).status).toBe(404);
});
