import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { whileVisible } from "./while-visible";

/** A page that is shown and hidden. */
class Page extends EventTarget {
  hidden = false;
  turn(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

let page: Page;
let log: string[];
const start = () => {
  log.push("start");
  return () => log.push("stop");
};

beforeEach(() => {
  vi.useFakeTimers();
  page = new Page();
  log = [];
  vi.stubGlobal("document", page);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("runs while the page is visible, and stops for good in the end", () => {
  const end = whileVisible(start);
  page.turn(true);
  page.turn(false);
  expect(log).toEqual(["start", "stop", "start"]);
  end();
  page.turn(true);
  page.turn(false);
  expect(log).toEqual(["start", "stop", "start", "stop"]);
});

test("waits for a page that is hidden from the start", () => {
  page.hidden = true;
  whileVisible(start);
  expect(log).toEqual([]);
  page.turn(false);
  expect(log).toEqual(["start"]);
});

test("keeps running for as long as it may while hidden, and a short look elsewhere changes nothing", () => {
  const end = whileVisible(start, 60_000);
  page.turn(true);
  vi.advanceTimersByTime(59_999);
  page.turn(false);
  vi.advanceTimersByTime(60_000);
  expect(log).toEqual(["start"]);
  page.turn(true);
  vi.advanceTimersByTime(60_000);
  expect(log).toEqual(["start", "stop"]);
  page.turn(false);
  expect(log).toEqual(["start", "stop", "start"]);
  page.turn(true);
  end();
  expect(log).toEqual(["start", "stop", "start", "stop"]);
  vi.advanceTimersByTime(60_000);
  expect(log).toHaveLength(4);
});
