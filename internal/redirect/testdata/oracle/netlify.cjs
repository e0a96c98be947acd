// Asks Netlify's own parser and matcher, as its command line tool joins them.
// stdin: [{rules, targets}], stdout: for each target {to, status} or null.
const path = require("path"), fs = require("fs"), os = require("os"), url = require("url");
const modules = process.env.SITELINK_MODULES;
const redirector = require(path.join(modules, "netlify-redirector"));
const cases = JSON.parse(fs.readFileSync(0, "utf8"));

async function main() {
  const parser = await import(url.pathToFileURL(path.join(modules, "netlify-redirect-parser", "lib", "index.js")));
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "oracle-"));
  const file = path.join(dir, "_redirects"), toml = path.join(dir, "netlify.toml");
  const out = [];
  for (const one of cases) {
    const isToml = one.rules.startsWith("# toml");
    fs.writeFileSync(isToml ? toml : file, one.rules);
    const { redirects } = await parser.parseAllRedirects({
      redirectsFiles: isToml ? [] : [file], netlifyConfigPath: isToml ? toml : undefined, configRedirects: [],
    });
    const rules = redirects.map(({ from, query, signed, ...rest }) => ({ ...rest, origin: from, params: query, ...(signed && { sign: { jwt_secret: signed } }) }));
    const matcher = await redirector.parseJSON(JSON.stringify(rules), {});
    out.push(one.targets.map((target) => {
      const [pathname, query = ""] = target.split("?");
      const request = { scheme: "https", host: "h.example", path: pathname, query, method: "GET", headers: {}, cookieValues: {}, getHeader: () => "", getCookie: () => "" };
      const hit = rules.length === 0 ? null : matcher.match(request);
      return hit ? { to: hit.to, status: hit.status } : null;
    }));
  }
  fs.rmSync(dir, { recursive: true });
  process.stdout.write(JSON.stringify(out));
}
main().catch((error) => { console.error(error); process.exit(1); });
