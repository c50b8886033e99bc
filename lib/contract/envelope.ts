import { z } from "zod";
import { ERROR_IDS, ERRORS, type ErrorId } from "./errors";

/** A successful response. */
export interface Success<Data> {
  code: 0;
  message: "success";
  data: Data;
}

/** Schema of a successful response around the data of an operation. */
export function success<Data extends z.ZodType>(data: Data) {
  return z.object({ code: z.literal(0), message: z.literal("success"), data });
}

/** Details of an error response. */
export const FailureData = z
  .object({
    detail: z.string().describe("What was wrong with this request, for humans. The text may change."),
    request_id: z.string().describe("The same as in `X-Request-Id`. Include it when you report a problem."),
    docs_url: z
      .string()
      .describe("Documentation page of this error, with cause, fix and example; a path where the service does not know its URL."),
    parameter: z.string().optional().describe("The invalid parameter."),
    allowed: z.array(z.string()).optional().describe("Accepted values."),
    tickers: z
      .array(z.string())
      .optional()
      .describe("The tickers that are invalid, unknown or not allowed; the currencies of a conversion."),
    suggestion: z.string().optional().describe("The value you probably meant."),
    required: z.string().optional().describe("The scope that this operation requires."),
    max: z.number().optional().describe("The largest accepted value."),
    not_before: z.string().optional().describe("The time from which the key is valid, ISO 8601."),
    oldest: z.string().optional().describe("The earliest time of data that the plan includes, ISO 8601."),
    resets_at: z.string().optional().describe("When the next month begins and the quota starts again, ISO 8601."),
    retry_after: z.int().optional().describe("Seconds to wait before trying again."),
  })
  .meta({ id: "FailureData", description: "Details of an error response." });
export type FailureData = z.infer<typeof FailureData>;

/** An error response; `message` is the stable identifier. */
export const Failure = z
  .object({
    code: z
      .literal(ERROR_IDS.map((id) => ERRORS[id].code))
      .describe("Error code: HTTP status * 100 + n. A code is never reused."),
    message: z.enum(ERROR_IDS as [ErrorId, ...ErrorId[]]).describe("Stable error identifier."),
    data: FailureData,
  })
  .meta({ id: "Failure", description: "An error response." });
export type Failure = z.infer<typeof Failure>;

/** An example response for one error, for documents and tests. */
export function failureExample(id: ErrorId): Failure {
  return {
    code: ERRORS[id].code,
    message: id,
    data: { detail: ERRORS[id].title, request_id: "req_01J0Z7", docs_url: `/docs/errors/${id.replaceAll("_", "-")}` },
  };
}
