"use strict";
const { check, flags, failure } = require("sitelink");

/** The hook buildEnd of VitePress, which checks the output; a build with findings fails. */
module.exports = function sitelink(options = {}) {
  flags(options);
  return async ({ outDir }) => {
    const result = await check(outDir, options);
    console[result.ok ? "log" : "error"](result.report);
    if (!result.ok) throw failure();
  };
};
