import { asyncApiText } from "./asyncapi";
import { createDocumentResponse } from "./document-response";

/** Answers /asyncapi.json. */
export const asyncApiResponse = createDocumentResponse(asyncApiText);
