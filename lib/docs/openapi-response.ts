import { createDocumentResponse } from "./document-response";
import { openApiText } from "./openapi";

/** Answers /openapi.json. */
export const openApiResponse = createDocumentResponse(openApiText);
