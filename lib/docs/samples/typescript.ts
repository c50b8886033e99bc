import { KEY_VARIABLE, keyOf, type RestCall, type Sample, urlOf } from "./call";

/** TypeScript for Node 20 and later, Deno and Bun. */
export const typescript: Sample<RestCall> = {
  id: "typescript",
  label: "TypeScript",
  generate(call) {
    const key = keyOf(call);
    const bearer = key === null ? `\`Bearer \${process.env.${KEY_VARIABLE}}\`` : `"Bearer ${key}"`;
    const method = call.operation.method === "GET" ? "" : `\n  method: "${call.operation.method}",`;
    const { file } = call.operation;
    if (file !== undefined)
      return `import { writeFile } from "node:fs/promises";

const response = await fetch("${urlOf(call)}", {
  headers: { Authorization: ${bearer} },
});
if (!response.ok) throw new Error(await response.text());
await writeFile("${file.name}", new Uint8Array(await response.arrayBuffer()));`;
    return `type Answer = { code: number; message: string; data: { detail?: string } };

const response = await fetch("${urlOf(call)}", {${method}
  headers: { Authorization: ${bearer} },
});
const { code, message, data } = (await response.json()) as Answer;
if (code !== 0) throw new Error(\`\${message}: \${data.detail}\`);
console.log(JSON.stringify(data));`;
  },
};
