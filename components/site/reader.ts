/** The signed-in reader, for the header. */
export interface SiteReader {
  readonly email: string;
  readonly operator: boolean;
}
