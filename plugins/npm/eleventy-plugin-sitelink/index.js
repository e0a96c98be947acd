"use strict";
const { check, flags, failure } = require("sitelink");

const configs = new WeakSet();

/**
 * Checks the output after each build. A build with findings fails; with --serve and --watch,
 * the findings that are new since the last build are printed instead.
 */
module.exports = function sitelink(config, options = {}) {
  flags(options);
  config.versionCheck(">=2.0.0");
  if (configs.has(config)) throw new Error("eleventy-plugin-sitelink is added twice: remove one addPlugin(sitelink) from the configuration");
  configs.add(config);
  const seen = new Set();
  config.on("eleventy.after", async ({ directories, dir, runMode, outputMode }) => {
    if (outputMode && outputMode !== "fs") return;
    const once = !runMode || runMode === "build";
    const result = await check(directories?.output ?? dir.output, { ...options, parallel: true, seen: once ? undefined : seen });
    if (result.report) console.log(result.report);
    if (!result.ok && once) throw failure();
  });
};
