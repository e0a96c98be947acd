// s3rver, an S3 server for tests, with a website configuration. The docroot
// is uploaded into its store as "aws s3 sync" does: one object for each file, of
// the type that Python's mimetypes finds for its name, which is without charset;
// what lies behind symbolic links included, no object for a directory.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { docroot, load } from "./packages.mjs";

const website = `<WebsiteConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<IndexDocument><Suffix>index.html</Suffix></IndexDocument></WebsiteConfiguration>`;

const { default: S3rver } = await load("s3rver");
const directory = mkdtempSync(join(tmpdir(), "s3-"));
const server = new S3rver({
  address: "127.0.0.1", port: 0, silent: true, directory,
  configureBuckets: [{ name: "docroot", configs: [website] }],
});
const { port } = await server.run();

const agent = new (await import("node:http")).Agent({ keepAlive: true, maxSockets: 4 });
const types = { html: "text/html", htm: "text/html", css: "text/css", xml: "text/xml" };
const put = (key, body) => new Promise((resolve, reject) => {
  const type = types[key.toString("latin1").split(".").pop()] ?? "binary/octet-stream";
  const path = "/docroot/" + [...key].map((b) => "%" + b.toString(16).padStart(2, "0")).join("");
  const r = request({ host: "127.0.0.1", port, agent, method: "PUT", path, headers: { "content-length": body.length, "content-type": type } }, (answer) => {
    answer.resume().on("end", () => (answer.statusCode === 200 ? resolve() : reject(new Error(`put ${key}: ${answer.statusCode}`))));
  });
  r.on("error", reject).end(body);
});
const upload = async (dir, prefix) => {
  for (const name of readdirSync(dir, { encoding: "buffer" }).sort(Buffer.compare)) {
    const file = Buffer.concat([dir, Buffer.from("/"), name]);
    const key = Buffer.concat([prefix, name]);
    const info = statSync(file, { throwIfNoEntry: false });
    if (info?.isDirectory()) await upload(file, Buffer.concat([key, Buffer.from("/")]));
    else if (info?.isFile()) {
      try {
        await put(key, readFileSync(file));
      } catch (error) {
        console.error(String(error));
      }
    }
  }
};
await upload(Buffer.from(docroot), Buffer.alloc(0));
process.on("SIGTERM", () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
console.log(`port ${port}`);
