import { expect, test } from "vitest";
import { connectionRoom } from "./open-files";

const limits = (files: number | string) =>
  `Max processes    4096  4096  processes\nMax open files   ${files}   1048576   files\n`;

test.each([
  [65_536, 65_408],
  [1_024, 896],
  [100, 50],
])("of %s files, %s are left for connections", (files, room) => {
  expect(connectionRoom(limits(files))).toBe(room);
});

test.each([limits("unlimited"), ""])("connections have no bound by files where there is none, or it is unknown", (text) => {
  expect(connectionRoom(text)).toBe(Number.POSITIVE_INFINITY);
});
