import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeOf } from "./call";
import { shellLiteral } from "./literal";

/** Seconds that wscat stays after it has sent the message. */
const WAIT_S = 60;

/** The terminal client wscat. */
export const wscat: Sample<StreamCall> = {
  id: "wscat",
  label: "wscat",
  install: "npm install --global wscat",
  generate(call) {
    const message = JSON.stringify({ method: "subscribe", params: subscribeOf(call) });
    return `wscat --connect "${streamUrlOf(call)}" \\
  --header "Authorization: Bearer ${keyOf(call) ?? `$${KEY_VARIABLE}`}" \\
  --wait ${WAIT_S} \\
  --execute ${shellLiteral(message)}`;
  },
};
