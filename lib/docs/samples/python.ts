import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** Python 3 with nothing installed. */
export const python: Sample<RestCall> = {
  id: "python",
  label: "Python",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `"Bearer " + os.environ["${KEY_VARIABLE}"]` : `"Bearer ${key}"`;
    const method = call.operation.method === "GET" ? "" : `\n    method="${call.operation.method}",`;
    const { file } = call.operation;
    if (file !== undefined)
      return `${key === null ? "import os\n" : ""}from shutil import copyfileobj
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "${urlOf(call)}",
    headers={"Authorization": ${bearer}},
)
try:
    with urlopen(request, timeout=60) as response, open("${file.name}", "wb") as saved:
        copyfileobj(response, saved)
except HTTPError as error:
    raise SystemExit(error.read().decode())`;
    return `import json
${key === null ? "import os\n" : ""}from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "${urlOf(call)}",${method}
    headers={"Authorization": ${bearer}},
)
try:
    answer = json.load(urlopen(request, timeout=10))
except HTTPError as error:
    answer = json.load(error)
if answer["code"] != 0:
    raise SystemExit(answer["message"] + ": " + answer["data"]["detail"])
print(json.dumps(answer["data"]))`;
  },
};
