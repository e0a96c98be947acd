// Asks the routes that @vercel/routing-utils makes of vercel.json, as its proxy
// does: the first whose expression matches.
// stdin: [{rules, targets}], stdout: for each target {to, status} or null.
const path = require("path"), fs = require("fs");
const { getTransformedRoutes } = require(path.join(process.env.SITELINK_MODULES, "@vercel", "routing-utils"));

const out = JSON.parse(fs.readFileSync(0, "utf8")).map((one) => {
  const rules = JSON.parse(one.rules);
  // One rule at a time: a bad one makes the whole file invalid.
  const routes = ["redirects", "rewrites"].flatMap((key) => (rules[key] ?? []).flatMap((rule) => {
    try { return getTransformedRoutes({ [key]: [rule] }).routes ?? []; } catch { return []; }
  }));
  return one.targets.map((target) => {
    for (const route of routes) {
      const match = route.src && new RegExp(route.src).exec(target.split("?")[0]);
      if (!match) continue;
      const to = (route.headers?.Location ?? route.dest ?? "").replace(/\$(\d+)/g, (_, n) => match[n] ?? "");
      // A rewrite hands unused parameters on as its query: no other file.
      return { to: route.dest ? to.split("?")[0] : to, status: route.status ?? 200 };
    }
    return null;
  });
});
process.stdout.write(JSON.stringify(out));
