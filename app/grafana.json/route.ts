import { grafanaResponse } from "#lib/docs/document-response";
import { runningParts } from "#lib/runtime";

/** The dashboard of the service's metrics, to be imported into Grafana. */
export const GET = (request: Request): Response => grafanaResponse(request, runningParts());
