import path from "node:path";

/** The folder of the typed clients as packages, made by the build; relative to the working directory. */
export const CLIENT_FOLDER = path.join(".next", "spotwire", "clients");
/** The package for npm. */
export const CLIENT_PACKAGE = "spotwire-client.tgz";
/** The import name of the Python client, with which its files begin. */
export const PYTHON_NAME = "spotwire_client";

/** The file that pip installs; pip reads name and version from it. */
export const pythonWheel = (version: string) => `${PYTHON_NAME}-${version}-py3-none-any.whl`;
/** The same as sources. */
export const pythonSdist = (version: string) => `${PYTHON_NAME}-${version}.tar.gz`;
