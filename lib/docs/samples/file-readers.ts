import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** Headers of Python that carry the key, and what they need. */
function pythonHeaders(call: RestCall): { readonly imports: string; readonly headers: string } {
  const key = keyOf(call);
  const bearer = key === null ? `"Bearer " + os.environ["${KEY_VARIABLE}"]` : `"Bearer ${key}"`;
  return { imports: key === null ? "import os\n" : "", headers: `{"Authorization": ${bearer}}` };
}

/** What the rows of the file are called in code. */
const rowsOf = (call: RestCall) => (urlOf(call).includes("/files/ticks-") ? "ticks" : "klines");

/** Over HTTP, DuckDB needs an extension that it has to download. A file needs nothing. */
const duckdb: Sample<RestCall> = {
  id: "duckdb",
  label: "DuckDB",
  generate(call) {
    const key = keyOf(call) ?? `$${KEY_VARIABLE}`;
    const file = `${rowsOf(call)}.parquet`;
    return `curl -sSf -H "Authorization: Bearer ${key}" -o ${file} "${urlOf(call)}"
duckdb -c "SELECT * FROM '${file}'"`;
  },
};

const pandas: Sample<RestCall> = {
  id: "pandas",
  label: "pandas",
  install: "pip install pandas pyarrow",
  generate(call) {
    const { imports, headers } = pythonHeaders(call);
    return `${imports}import pandas as pd

${rowsOf(call)} = pd.read_parquet("${urlOf(call)}", storage_options=${headers})`;
  },
};

const polars: Sample<RestCall> = {
  id: "polars",
  label: "Polars",
  install: "pip install polars",
  generate(call) {
    const { imports, headers } = pythonHeaders(call);
    return `import io
${imports}from urllib.request import Request, urlopen

import polars as pl

request = Request("${urlOf(call)}", headers=${headers})
${rowsOf(call)} = pl.read_parquet(io.BytesIO(urlopen(request).read()))`;
  },
};

/** Programs that read a file, in the order they are offered. */
export const FILE_READERS: readonly [Sample<RestCall>, ...Sample<RestCall>[]] = [duckdb, pandas, polars];
