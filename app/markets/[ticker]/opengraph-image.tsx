import { notFound } from "next/navigation";
import { ImageResponse } from "next/og";
import { brandHere } from "#app/brand";
import { SPARK_TOP } from "#lib/contract/markets";
import { Ticker } from "#lib/contract/primitives";
import { runningPortal } from "#server/pages/runtime";
import { priceText } from "../../../components/portal/numbers";

export const alt = "The market's name, price and line of its trading day";
export const size = { width: 1200, height: 630 };
export const contentType = "image/png";
/** Shows the price of the hour: never prerendered. */
export const dynamic = "force-dynamic";

const COLOURS = { ground: "#0d1117", ink: "#f0f3f6", faint: "#9aa4b2", line: "#7aa2ff" };
const LINE = { width: 1072, height: 220 };

/** The picture of a shared link to a market; the cache of pages keeps it. */
export default async function OpenGraphImage({ params }: { params: Promise<{ ticker: string }> }) {
  const { ticker } = await params;
  const parts = runningPortal();
  if (!Ticker.safeParse(ticker).success) notFound();
  const row = (await parts?.reports.market("sandbox", ticker))?.row ?? notFound();
  const step = LINE.width / Math.max(1, row.spark.length - 1);
  const points = row.spark.map((value, index) => {
    const y = LINE.height * (1 - value / SPARK_TOP);
    return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  return new ImageResponse(
    <div
      style={{
        width: "100%",
        height: "100%",
        display: "flex",
        flexDirection: "column",
        justifyContent: "space-between",
        padding: 64,
        background: COLOURS.ground,
        color: COLOURS.ink,
      }}
    >
      <div style={{ display: "flex", justifyContent: "space-between", alignItems: "flex-start" }}>
        <div style={{ display: "flex", flexDirection: "column" }}>
          <div style={{ fontSize: 88, fontWeight: 700 }}>{ticker}</div>
          <div style={{ fontSize: 36, color: COLOURS.faint }}>{row.name}</div>
        </div>
        <div style={{ fontSize: 72 }}>{row.price === null ? "" : priceText(row.price.bid, row.digits)}</div>
      </div>
      <svg aria-hidden="true" width={LINE.width} height={LINE.height} viewBox={`0 0 ${LINE.width} ${LINE.height}`}>
        <polyline points={points.join(" ")} fill="none" stroke={COLOURS.line} strokeWidth="5" />
      </svg>
      <div style={{ display: "flex", justifyContent: "space-between", fontSize: 32, color: COLOURS.faint }}>
        <div>{brandHere().name}</div>
        <div>Sandbox: synthetic prices</div>
      </div>
    </div>,
    size,
  );
}
