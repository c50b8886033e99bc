import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeOf } from "./call";
import { javaScriptLiteral } from "./literal";

/** Node with the package ws, which can send the key with the handshake. */
export const node: Sample<StreamCall> = {
  id: "node",
  label: "Node",
  install: "npm install ws",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `\`Bearer \${process.env.${KEY_VARIABLE}}\`` : `"Bearer ${key}"`;
    return `import WebSocket from "ws";

const socket = new WebSocket("${streamUrlOf(call)}", {
  headers: { Authorization: ${bearer} },
});
const params = ${javaScriptLiteral(subscribeOf(call))};

socket.on("open", () => socket.send(JSON.stringify({ id: 1, method: "subscribe", params })));
socket.on("message", (text) => console.log(String(text)));
socket.on("error", (error) => console.error(error.message));
socket.on("close", (code, reason) => console.log("closed", code, String(reason)));`;
  },
};
