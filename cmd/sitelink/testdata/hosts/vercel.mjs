// serve-handler, Vercel's static file server for use at home.
import { createServer } from "node:http";
import { announce, docroot, load, settings } from "./packages.mjs";

const { default: handler } = await load("serve-handler");
const config = { public: docroot, directoryListing: false, symlinks: true, ...settings };
// It throws at names that it cannot put into a header.
const server = createServer((request, response) =>
  handler(request, response, config).catch((error) => {
    if (!response.headersSent) response.writeHead(500);
    response.end(String(error));
  }));
server.listen(0, "127.0.0.1", () => announce(server));
