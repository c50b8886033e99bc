import { expect, test } from "vitest";
import { createSpeedMeter } from "./tick-speed";

test("tick to screen is the median of the latest ticks, never below zero", () => {
  const meter = createSpeedMeter();
  expect(meter.speed(0)).toEqual({ latencyMs: null, perSecond: null });
  for (const latency of [-3, 40, 20]) meter.painted(1_000, 1_000 + latency);
  expect(meter.speed(0).latencyMs).toBe(20);
  for (let tick = 0; tick < 60; tick += 1) meter.painted(0, 7);
  expect(meter.speed(0).latencyMs).toBe(7);
});

test("ticks a second counts the last ten seconds, with the ticks that a merged record replaces", () => {
  const meter = createSpeedMeter();
  for (let second = 0; second < 20; second += 1) meter.arrived(second * 1_000, 3);
  expect(meter.speed(20_000).perSecond).toBeCloseTo(2.7);
  meter.clear();
  expect(meter.speed(20_000).perSecond).toBeNull();
  meter.arrived(20_000, 5);
  expect(meter.speed(22_000).perSecond).toBeCloseTo(2.5);
});
