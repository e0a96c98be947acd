// Asks Cloudflare's own parser, cut out of wrangler's bundle, which does not
// export it, and the asset server of @cloudflare/pages-shared.
// stdin: [{rules, targets}], stdout: for each target {to, status} or null.
import fs from "node:fs";
import path from "node:path";
import url from "node:url";

const modules = process.env.SITELINK_MODULES;
const load = (name) => import(url.pathToFileURL(path.join(modules, name)));
const bundle = fs.readFileSync(path.join(modules, "wrangler/wrangler-dist/cli.js"), "utf8");
const section = (name) => {
  const from = bundle.indexOf(`// ../workers-shared/utils/configuration/${name}.ts\n`);
  const to = bundle.indexOf("\n// ../", from + 1);
  if (from < 0 || to < 0) throw new Error(`wrangler's bundle holds no ${name}`);
  return bundle.slice(from, to);
};
const parseRedirects = new Function(`
  const __name = (value) => value;
  const init_import_meta_url = () => {};
  const __esm = (of) => Object.values(of)[0];
  ${section("constants")}
  ${section("validateURL")}
  ${section("parseRedirects").replace(/init_(constants|validateURL)\d*\(\);/g, "")}
  ${section("constants").match(/init_constants\d*/)[0]}();
  init_validateURL();
  return parseRedirects;
`)();
const { createMetadataObject } = await load("@cloudflare/pages-shared/dist/metadata-generator/createMetadataObject.js");
const { generateHandler } = await load("@cloudflare/pages-shared/dist/asset-server/handler.js");

const cases = JSON.parse(fs.readFileSync(0, "utf8"));
const out = [];
for (const one of cases) {
  const metadata = createMetadataObject({ redirects: parseRedirects(one.rules) });
  const answers = [];
  for (const target of one.targets) {
    const asked = [];
    let response;
    try { response = await generateHandler({
      request: new Request("https://h.example" + target), metadata, logError: () => {},
      findAssetEntryForPath: async (name) => { asked.push(name); return null; },
      getAssetKey: () => "", negotiateContent: () => ({ encoding: null }), fetchAsset: async () => ({ body: null, contentType: "" }),
      generateNotFoundResponse: async () => new Response("", { status: 404 }),
    }); } catch (error) {
      answers.push({ to: error.code ?? String(error), status: 500 });
      continue;
    }
    const location = response.headers.get("location");
    // Once the files are asked, no rule redirects any more.
    answers.push(asked.length > 0 ? { to: asked[0], status: 404 } : { to: location, status: response.status });
  }
  out.push(answers);
}
process.stdout.write(JSON.stringify(out));
