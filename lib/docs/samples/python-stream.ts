import { KEY_VARIABLE, keyOf, type Sample, type StreamCall, streamUrlOf, subscribeOf } from "./call";
import { pythonLiteral } from "./literal";

/** Python with the package websockets, from 10.4 on: with 13 its API changed, and Debian and Ubuntu have the earlier one. */
export const pythonStream: Sample<StreamCall> = {
  id: "python",
  label: "Python",
  install: 'pip install "websockets>=10.4"',
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + os.environ["${KEY_VARIABLE}"]` : `"Bearer ${key}"`;
    return `import asyncio
import json
${key === null ? "import os\n" : ""}
URL = "${streamUrlOf(call)}"
HEADERS = {"Authorization": ${bearer}}
PARAMS = ${pythonLiteral(subscribeOf(call))}

try:
    from websockets.asyncio.client import connect

    OPTIONS = {"additional_headers": HEADERS}
except ImportError:  # websockets before 13
    from websockets.client import connect

    OPTIONS = {"extra_headers": HEADERS}


async def main():
    async with connect(URL, **OPTIONS) as socket:
        await socket.send(json.dumps({"id": 1, "method": "subscribe", "params": PARAMS}))
        async for text in socket:
            print(text, flush=True)


asyncio.run(main())`;
  },
};
