// Packages come from the folder that SITELINK_NPM names: .ci/run installs them
// there in the versions that docs/reference/profiles.md names.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.SITELINK_NPM, "package.json"));

export const load = (name) => import(pathToFileURL(require.resolve(name)).href);

// Arguments of every script here: the docroot, and settings as JSON.
export const docroot = process.argv[2];
export const settings = JSON.parse(process.argv[3] || "{}");

// config returns a rule file of the docroot, {} if there is none.
export const config = (name) => {
  const file = join(docroot, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
};

// The test reads the port from the first line.
export const announce = (server) => console.log(`port ${server.address().port}`);
