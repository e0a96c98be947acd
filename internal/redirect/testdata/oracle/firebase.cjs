// Asks superstatic, the server behind "firebase serve": its redirects, then its
// rewrites. stdin: [{rules, targets}] with rules as firebase.json, stdout: for
// each target {to, status} or null.
const path = require("path"), fs = require("fs");
const load = (name) => require(path.join(process.env.SITELINK_MODULES, "superstatic", "lib", "middleware", name));
const redirects = load("redirects")(), rewrites = load("rewrites")();

const ask = (middleware, config, url) => {
  let hit = null;
  middleware({ url, superstatic: config }, { superstatic: { handle: (what) => { hit = what; } } }, () => {});
  return hit;
};
const out = JSON.parse(fs.readFileSync(0, "utf8")).map((one) => {
  const config = { redirects: [], rewrites: [], ...JSON.parse(one.rules).hosting };
  return one.targets.map((target) => {
    let hit = ask(redirects, config, target);
    if (hit) return { to: hit.redirect, status: hit.status };
    hit = ask(rewrites, config, target);
    return hit ? { to: hit.rewrite.destination, status: 200 } : null;
  });
});
process.stdout.write(JSON.stringify(out));
