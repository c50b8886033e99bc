import { delimited, type Format, headless, UTC_CLOCK } from "./format";

/** `EUR/USD,20200131 17:00:00.123,bid,ask`, UTC, no header. */
export const trueFx: Format = {
  id: "truefx",
  title: "TrueFX ticks",
  recognise: (head) =>
    head.lines.slice(0, 3).some((line) => /^[A-Z]{3}\/[A-Z]{3},\d{8} \d\d:\d\d:\d\d(\.\d+)?,/.test(line))
      ? delimited(headless("ticks", ",", ["symbol", "dateTime", "bid", "ask"], "compact"), UTC_CLOCK)
      : null,
};
