import { z } from "zod";
import { ERROR_IDS, ERRORS, type ErrorId } from "./errors";

/** The answer of a successful operation. */
export interface Success<Data> {
  code: 0;
  message: "success";
  data: Data;
}

/** Schema of a successful answer around the data of an operation. */
export function success<Data extends z.ZodType>(data: Data) {
  return z.object({ code: z.literal(0), message: z.literal("success"), data });
}

/** What a failed answer tells beside its code. */
export const FailureData = z
  .object({
    detail: z.string().describe("What was wrong with this request, in words."),
    request_id: z.string().describe("Also in X-Request-Id; name it when reporting a problem."),
    docs_url: z.string().describe("The page of this error."),
    parameter: z.string().optional().describe("The parameter that was refused."),
    allowed: z.array(z.string()).optional().describe("Values that are accepted."),
    tickers: z.array(z.string()).optional().describe("Tickers that were refused."),
    suggestion: z.string().optional().describe("What was probably meant."),
    required: z.string().optional().describe("The scope this operation requires."),
    max: z.number().optional().describe("The largest value that is accepted."),
    retry_after: z.int().optional().describe("Seconds to wait before trying again."),
  })
  .meta({ id: "FailureData", description: "What a failed answer tells beside its code." });
export type FailureData = z.infer<typeof FailureData>;

/** The answer of a failed operation; `message` is the stable identifier. */
export const Failure = z
  .object({
    code: z.int().describe("HTTP status * 100 + n; a number is never reused."),
    message: z.enum(ERROR_IDS as [ErrorId, ...ErrorId[]]).describe("Stable identifier."),
    data: FailureData,
  })
  .meta({ id: "Failure", description: "The answer of a failed operation." });
export type Failure = z.infer<typeof Failure>;

/** A failure example of one error, for documents and tests. */
export function failureExample(id: ErrorId): Failure {
  return {
    code: ERRORS[id].code,
    message: id,
    data: { detail: ERRORS[id].title, request_id: "req_01J0Z7", docs_url: `/docs/errors/${id.replaceAll("_", "-")}` },
  };
}
