// @netlify/redirects and @netlify/static, the rules and the file lookup of
// "netlify dev". The redirects of Pretty URLs are made by the real host only.
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { announce, docroot, load } from "./packages.mjs";

const { StaticHandler } = await load("@netlify/static");
const { RedirectsHandler } = await load("@netlify/redirects");
const files = new StaticHandler({ directory: docroot });
const toml = join(docroot, "netlify.toml");
// It refuses addresses that it cannot decode, so it is asked only if there are rules.
const ruled = existsSync(toml) || existsSync(join(docroot, "_redirects"));
const rules = new RedirectsHandler({ publicDir: docroot, projectDir: docroot, jwtSecret: "secret", jwtRoleClaim: "roles", configPath: existsSync(toml) ? toml : undefined });

const answerTo = async (request) => {
  const rule = ruled && (await rules.match(request));
  if (!rule) return (await files.match(request))?.handle();
  // Its handler answers with a file of the rule's destination, and leaves the
  // status of the rule to its caller.
  let asked = 0;
  const answer = await rules.handle(request, rule, async (of) => {
    asked++;
    const file = await files.match(of);
    return file && (() => file.handle());
  });
  if (!answer || rule.redirect || asked < 2) return answer;
  return new Response(answer.body, { status: rule.statusCode, headers: answer.headers });
};
const server = createServer(async (request, response) => {
  try {
    const answer = await answerTo(new Request(`http://${request.headers.host}${request.url}`, { headers: request.headers }));
    if (!answer) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body).pipe(response);
    else response.end();
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(0, "127.0.0.1", () => announce(server));
