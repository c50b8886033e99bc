import type { default as Ajv, ValidateFunction } from "ajv/dist/core";
import addFormats from "ajv-formats";
import type { JsonSchema } from "#lib/docs/json-schema";

/**
 * Makes the function that returns the problems of a value with a schema of a document; none for one that fits. `whole` adds what
 * the references of the schema lead to.
 */
export function createSchemaProblems(ajv: Ajv, whole: (schema: JsonSchema) => object) {
  addFormats.default(ajv);
  // Compiling a schema takes a hundred times as long as using it.
  const compiled = new Map<JsonSchema, ValidateFunction>();
  return (schema: JsonSchema, value: unknown) => {
    const validate = compiled.get(schema) ?? ajv.compile(whole(schema));
    compiled.set(schema, validate);
    return validate(value) ? [] : validate.errors;
  };
}
