import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { licences } from "./licences";

test("the licences are sent as text, and are missing before a build", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "licences-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "licences.txt");
  expect((await licences(file)).status).toBe(404);
  writeFileSync(file, "Apache License");
  const answer = await licences(file);
  expect([answer.headers.get("content-type"), await answer.text()]).toEqual(["text/plain; charset=utf-8", "Apache License"]);
});
