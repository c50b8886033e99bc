import { baseOf, KEY_VARIABLE, keyOf, type Sample, type StreamCall, subscribeOf } from "./call";
import { javaScriptLiteral } from "./literal";

/** JavaScript with Socket.IO, which connects again by itself. */
export const socketIo: Sample<StreamCall> = {
  id: "socket.io",
  label: "Socket.IO",
  install: "npm install socket.io-client",
  generate(call) {
    const key = keyOf(call);
    const auth = key === null ? `process.env.${KEY_VARIABLE}` : `"${key}"`;
    return `import { io } from "socket.io-client";

const socket = io("${baseOf(call)}${call.operation.namespace}", { auth: { key: ${auth} } });
const params = ${javaScriptLiteral(subscribeOf(call))};

socket.on("connect", () => {
  socket.emit("subscribe", params, (ack) => console.log(JSON.stringify(ack)));
});
socket.on("${call.parameters.stream}", (message) => console.log(JSON.stringify(message)));
socket.on("market_status", (message) => console.log(JSON.stringify(message)));
socket.on("connect_error", (error) => console.error(error.message));
socket.on("disconnect", (reason) => console.log("disconnected", reason));`;
  },
};
