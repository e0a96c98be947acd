"use strict";
const { check, failure } = require("sitelink");

/** Checks a directory; throws if there are findings. */
async function report(docroot, options, logger) {
  const result = await check(docroot, options);
  logger[result.ok ? "info" : "error"](result.report);
  if (!result.ok) throw failure();
}

/** A plugin of Vite that checks the output directory after the build. */
module.exports = function sitelink(options = {}) {
  let config;
  return {
    name: "sitelink",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    closeBundle: {
      sequential: true,
      order: "post",
      async handler() {
        if (config.build.ssr) return;
        await report(require("node:path").resolve(config.root, config.build.outDir), options, config.logger);
      },
    },
  };
};

/** buildEnd of VitePress: export default { buildEnd: sitelink.vitepress() }. */
module.exports.vitepress = (options = {}) => (site) => report(site.outDir, options, console);
