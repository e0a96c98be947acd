// @netlify/static, the file lookup of "netlify dev". It finds the file of a
// request or none; redirects of Pretty URLs are made by the real host only.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { announce, docroot, load } from "./packages.mjs";

const { StaticHandler } = await load("@netlify/static");
const handler = new StaticHandler({ directory: docroot });
const server = createServer(async (request, response) => {
  try {
    const match = await handler.match(new Request(`http://${request.headers.host}${request.url}`));
    if (!match) {
      response.writeHead(404).end();
      return;
    }
    const answer = await match.handle();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    Readable.fromWeb(answer.body).pipe(response);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(0, "127.0.0.1", () => announce(server));
