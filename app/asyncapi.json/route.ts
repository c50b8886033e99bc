import { asyncApiResponse } from "#lib/docs/document-response";
import { runningParts } from "#lib/runtime";

export const GET = (request: Request): Response => asyncApiResponse(request, runningParts());
