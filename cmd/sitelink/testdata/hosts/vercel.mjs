// serve-handler, Vercel's static file server for use at home, behind the routes
// that @vercel/routing-utils makes of vercel.json. The host's own proxy is not
// published: it takes the first route that matches, before the files up to
// "handle", then after them.
import { createServer } from "node:http";
import { announce, config, docroot, load, settings } from "./packages.mjs";

const { default: handler } = await load("serve-handler");
const { default: { getTransformedRoutes } } = await load("@vercel/routing-utils");
const rules = config("vercel.json");
const { routes, error } = getTransformedRoutes(rules);
if (error) throw new Error(error.message);
const files = { public: docroot, directoryListing: false, symlinks: true, cleanUrls: rules.cleanUrls ?? false, ...settings };

// holds returns the captures of a condition, null if it does not hold.
const holds = (condition, request, query) => {
  const value = { query: query.get(condition.key), header: request.headers[condition.key], host: request.headers.host.split(":")[0], cookie: null }[condition.type];
  if (value == null) return null;
  if (condition.value === undefined) return { [condition.key]: value };
  return new RegExp(`^${condition.value}$`).exec(value)?.groups ?? (new RegExp(`^${condition.value}$`).test(value) ? {} : null);
};
const find = (phase, request, path, query) => {
  for (const route of phase) {
    const match = new RegExp(route.src).exec(path);
    const has = (route.has ?? []).map((c) => holds(c, request, query));
    if (!match || has.includes(null) || (route.missing ?? []).some((c) => holds(c, request, query))) continue;
    const captured = Object.assign({}, match.groups, ...has);
    return { ...route, to: (route.headers?.Location ?? route.dest ?? "").replace(/\$(\w+)/g, (_, name) => match[name] ?? captured[name] ?? "") };
  }
};
const at = (routes ?? []).findIndex((route) => route.handle);
const before = at < 0 ? routes ?? [] : routes.slice(0, at), after = at < 0 ? [] : routes.slice(at + 1);

// It throws at names that it cannot put into a header.
const serve = (request, response, missing) =>
  handler(request, response, files, missing && { sendError: missing }).catch((error) => {
    if (!response.headersSent) response.writeHead(500);
    response.end(String(error));
  });
const server = createServer((request, response) => {
  const [path, search = ""] = request.url.split("?");
  const query = new URLSearchParams(search);
  const redirect = find(before, request, path, query);
  if (redirect?.status) {
    const [to, own] = redirect.to.split("?");
    const all = [own, search].filter(Boolean).join("&");
    response.writeHead(redirect.status, { location: to + (all && "?" + all) }).end();
    return;
  }
  const rewrite = find(after, request, path, query);
  serve(request, response, rewrite && ((path, response, asJSON, root, handlers, config, { statusCode }) => {
    if (statusCode !== 404) return response.writeHead(statusCode).end();
    request.url = rewrite.to;
    return serve(request, response);
  }));
});
server.listen(0, "127.0.0.1", () => announce(server));
