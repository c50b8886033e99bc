import { brandHere } from "#app/brand";
import { brandPicture } from "#server/pages/downloads/brand-pictures";

interface Context {
  readonly params: Promise<{ readonly file: string }>;
}

/** A picture of the brand: its logo, its icons, or what a shared link shows. */
export async function GET(_request: Request, { params }: Context): Promise<Response> {
  return brandPicture((await params).file, brandHere());
}
