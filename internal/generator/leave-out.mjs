// made by sitelink: the project's configuration, in which the docroot is no input
import { pathToFileURL } from "node:url";
const config = CONFIG;
const site = config ? (await import(pathToFileURL(config).href)).default : (await import("lume/mod.ts")).default();
site.ignore((path) => site.src(path, "/").startsWith(site.root(DIR, "/")));
export default site;
