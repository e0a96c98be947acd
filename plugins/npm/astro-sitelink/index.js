"use strict";
const { fileURLToPath } = require("node:url");
const { check, flags, failure } = require("sitelink");

/** An integration that checks the output after astro build; a build with findings fails. */
module.exports = function sitelink(options = {}) {
  flags(options);
  // Added at the end: other integrations write files after the build, such as the sitemap that pages link to.
  const last = {
    name: "sitelink",
    hooks: {
      "astro:config:done": ({ config }) => {
        if (config.integrations.filter((one) => one.name === "sitelink").length > 1)
          throw new Error("astro-sitelink is used twice: remove one sitelink() from the integrations");
      },
      "astro:build:done": async ({ dir, logger }) => {
        const result = await check(fileURLToPath(dir), options);
        logger[result.ok ? "info" : "error"](result.report);
        if (!result.ok) throw failure();
      },
    },
  };
  return { name: "astro-sitelink", hooks: { "astro:config:setup": ({ updateConfig }) => void updateConfig({ integrations: [last] }) } };
};
