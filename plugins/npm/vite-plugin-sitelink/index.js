"use strict";
const path = require("node:path");
const { check, flags, failure } = require("sitelink");

/**
 * A plugin of Vite that checks the output directory after the build. A build with findings
 * fails; with --watch, the findings that are new since the last build are printed instead.
 */
module.exports = function sitelink(options = {}) {
  flags(options);
  const seen = new Set();
  let config, failed;
  return {
    name: "sitelink",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
      if (config.plugins.filter((one) => one.name === "sitelink").length > 1)
        throw new Error("vite-plugin-sitelink is used twice: remove one sitelink() from the plugins");
    },
    buildEnd(error) {
      failed = error;
    },
    closeBundle: {
      sequential: true,
      order: "post",
      async handler() {
        if (config.build.ssr || failed) return;
        const watching = this.meta.watchMode;
        const result = await check(path.resolve(config.root, config.build.outDir), watching ? { ...options, seen } : options);
        if (result.report) config.logger[result.ok ? "info" : "error"](result.report);
        if (!result.ok && !watching) throw failure();
      },
    },
  };
};
