import { expect, test } from "vitest";
import { dateFormat } from "./date-format";

test("a format is made once for each shape and time zone", () => {
  const shape = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  expect(dateFormat({ ...shape, timeZone: "UTC" })).toBe(dateFormat({ ...shape, timeZone: "UTC" }));
  expect(dateFormat({ ...shape, timeZone: "UTC" }).format(0)).toBe("00:00");
  expect(dateFormat({ ...shape, timeZone: "Asia/Tokyo" }).format(0)).toBe("09:00");
});
