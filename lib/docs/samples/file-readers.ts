import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** Headers of Python that carry the key, and what they need. */
function pythonHeaders(call: RestCall): { readonly imports: string; readonly headers: string } {
  const key = keyOf(call);
  const bearer = key === null ? `"Bearer " + os.environ["${KEY_VARIABLE}"]` : `"Bearer ${key}"`;
  return { imports: key === null ? "import os\n" : "", headers: `{"Authorization": ${bearer}}` };
}

/** What the rows of the file are called in code. */
const rowsOf = (call: RestCall) => (urlOf(call).includes("/files/ticks-") ? "ticks" : "klines");

const duckdb: Sample<RestCall> = {
  id: "duckdb",
  label: "DuckDB",
  generate(call) {
    const key = keyOf(call) ?? `$${KEY_VARIABLE}`;
    return `duckdb -c "CREATE SECRET (TYPE http, BEARER_TOKEN '${key}'); SELECT * FROM read_parquet('${urlOf(call)}')"`;
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
