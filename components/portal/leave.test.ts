import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { leaveForSignIn, leaveSignedOut } from "./leave";

const assign = vi.fn();
const page = new EventTarget();

beforeEach(() => {
  vi.stubGlobal("window", {
    location: { assign, pathname: "/dashboard/usage", search: "?days=7" },
    addEventListener: page.addEventListener.bind(page),
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  assign.mockReset();
});

test("a reader whose session has ended signs in and comes back to the same page", () => {
  leaveForSignIn();
  expect(assign.mock.calls).toEqual([["/signin?next=%2Fdashboard%2Fusage%3Fdays%3D7"]]);
});

test("a read that fails because the reader has signed out does not lead back, until the browser shows the page again", () => {
  leaveSignedOut();
  leaveForSignIn();
  expect(assign.mock.calls).toEqual([["/signin"]]);
  page.dispatchEvent(new Event("pageshow"));
  leaveForSignIn();
  expect(assign.mock.calls).toHaveLength(2);
});
