import { expect, test } from "vitest";
import { createAlignment } from "#lib/domain/timeframe";
import { ALIGNMENTS, createCompare, foldTicks, type GoldenCase } from "#lib/testing/golden";
import { FIXTURE_CASES, SHARED_CASES, WITHOUT_COUNTERPART } from "#lib/testing/golden-cases";
import {
  hasSharedData,
  readKlines,
  readTicks,
  SHARED_DATA_NOTICE,
  type Source,
  sharedMarketFiles,
} from "#lib/testing/shared-data";

const compare = createCompare();

const nameOf = (source: Source) => ("shared" in source ? source.shared : source.fixture);

function title({ from, to, compared, except }: GoldenCase): string {
  return `${nameOf(from)} gives ${nameOf(to)}: ${compared} klines${except === undefined ? "" : `; ${except.why}`}`;
}

/** All fully covered klines equal the published ones, except for the counted exceptions. */
function hold(golden: GoldenCase): void {
  const { compared, differing, missing, extra } = compare(golden);
  const { except } = golden;
  if (except?.differing === undefined) expect(differing).toEqual([]);
  if (except?.extra === undefined) expect(extra).toEqual([]);
  expect(missing).toEqual([]);
  expect({ compared, differing: differing.length, extra: extra.length }).toEqual({
    compared: golden.compared,
    differing: except?.differing ?? 0,
    extra: except?.extra ?? 0,
  });
}

test.each(FIXTURE_CASES.map((golden) => [title(golden), golden] as const))(
  "klines built from shorter ones match the published ones: %s",
  (_, golden) => hold(golden),
);

test.skipIf(!hasSharedData).each(SHARED_CASES.map((golden) => [title(golden), golden] as const))(
  `klines built from shorter ones match the published ones: %s${SHARED_DATA_NOTICE}`,
  (_, golden) => hold(golden),
);

test.skipIf(!hasSharedData)(`every file of klines or ticks is compared where another file allows it${SHARED_DATA_NOTICE}`, () => {
  const compared = SHARED_CASES.flatMap(({ from, to }) => [nameOf(from), nameOf(to)]);
  expect([...new Set([...compared, ...WITHOUT_COUNTERPART])].sort()).toEqual(sharedMarketFiles().sort());
});

test.skipIf(!hasSharedData)(
  `the real volume of ticks adds up to the published volume of each minute${SHARED_DATA_NOTICE}`,
  () => {
    const { ticks, digits } = readTicks({ shared: "nolicence/eurusd_ticks_dukascopy_20251201_20251205" });
    const published = readKlines({ shared: "nolicence/eurusd_m1_dukascopy_jessejay247_to_20251205" });
    // Instead of tick counts the export has the volume to the nearest million, at least 1; the tick file rounds to hundredths.
    const volumes = new Map(published.rows.map((kline) => [kline.time, kline.tick_volume]));
    const built = foldTicks(ticks, digits, createAlignment(ALIGNMENTS.UTC)).filter(({ time }) => volumes.has(time));
    const off = built.filter(
      ({ time, real_volume }) => Math.abs((volumes.get(time) ?? 0) - Math.max(1, real_volume ?? 0)) > 0.51,
    );
    expect({ compared: built.length, off }).toEqual({ compared: 6870, off: [] });
  },
);
