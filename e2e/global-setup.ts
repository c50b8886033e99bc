import { openLazyEndpoint } from "#lib/testing/lazy-endpoint";
import { KEY_ENDPOINT, openKeyEndpoint } from "./key-endpoint";
import { API_ONLY, type Product, startProduct, USED_DATA_ENDPOINT } from "./server";

/**
 * Runs once before all tests: starts the product on an empty data directory and stops it, once a test needs such a directory.
 * Setting up a database takes more CPU time than the rest of a start. It also makes the keys of all tests.
 */
export default async function setup(): Promise<() => Promise<void>> {
  let product: Product | undefined;
  const endpoint = await openLazyEndpoint(async () => {
    product = await startProduct(API_ONLY, { emptyData: true });
    await product.stop();
    return product.dataDir;
  });
  process.env[USED_DATA_ENDPOINT] = endpoint.url;
  const keys = await openKeyEndpoint();
  process.env[KEY_ENDPOINT] = keys.url;
  return async () => {
    endpoint.close();
    keys.close();
    await product?.dispose();
  };
}
