import { EnvSchema } from "./env";

const HEADER = [
  "# All environment variables, with their defaults. Copy this file to .env, or set the variables in the environment, which takes",
  "# precedence over the file. An empty variable counts as unset. If a value is invalid, the service does not start and names it.",
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
