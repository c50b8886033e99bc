import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeOf } from "./call";
import { pythonLiteral } from "./literal";

/** Python with the package websockets. */
export const pythonStream: Sample<StreamCall> = {
  id: "python",
  label: "Python",
  install: "pip install websockets",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + os.environ["${KEY_VARIABLE}"]` : `"Bearer ${key}"`;
    return `import asyncio
import json
${key === null ? "import os\n" : ""}
from websockets.asyncio.client import connect

URL = "${streamUrlOf(call)}"
HEADERS = {"Authorization": ${bearer}}
PARAMS = ${pythonLiteral(subscribeOf(call))}


async def main():
    async with connect(URL, additional_headers=HEADERS) as socket:
        await socket.send(json.dumps({"id": 1, "method": "subscribe", "params": PARAMS}))
        async for text in socket:
            print(text, flush=True)


asyncio.run(main())`;
  },
};
