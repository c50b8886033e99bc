import { EnvSchema } from "./env";

const HEADER = [
  "# Everything that can be set, with its default. Copy this file to .env, or set a variable in the environment of the process,",
  "# which wins over the file. An empty variable counts as unset. A wrong value stops the start with its name and what is allowed.",
];

function text(value: unknown): string {
  if (value === undefined) return "";
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** The text of `.env.example`: each variable with its meaning and its default, in the order of the schema. */
export function envExample(): string {
  const defaults: Record<string, unknown> = EnvSchema.parse({});
  const blocks = Object.entries(EnvSchema.shape).map(
    ([name, schema]) => `# ${schema.description ?? ""}\n${name}=${text(defaults[name])}`,
  );
  return `${[HEADER.join("\n"), ...blocks].join("\n\n")}\n`;
}
