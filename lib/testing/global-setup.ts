/** Runs once before all tests; grows with what they share (the database server). */
export default async function setup(): Promise<() => Promise<void>> {
  return async () => {};
}
