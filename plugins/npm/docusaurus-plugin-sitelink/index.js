"use strict";
const path = require("node:path");
const { check, flags, failure } = require("sitelink");

/**
 * A plugin that checks the output after docusaurus build; a build with findings fails. A site
 * in several languages is checked once, after the last: its pages link to each other.
 */
module.exports = function sitelink(_context, { id, ...options } = {}) {
  flags(options);
  return {
    name: "docusaurus-plugin-sitelink",
    async postBuild({ outDir, i18n }) {
      const { currentLocale, defaultLocale, locales, localeConfigs } = i18n;
      // Docusaurus builds the default language first.
      const last = [defaultLocale, ...locales.filter((one) => one !== defaultLocale)].at(-1);
      if (currentLocale !== last) return console.log(`[INFO] sitelink checks the site after its last language, ${last}`);
      if (path.basename(outDir) === (localeConfigs[last].path ?? last) && locales.length > 1) outDir = path.dirname(outDir);
      const result = await check(outDir, { ...options, parallel: true });
      console.log(result.report);
      if (!result.ok) throw failure();
    },
  };
};

/** Docusaurus needs this to take the options as they are; flags names one that it does not know. */
module.exports.validateOptions = ({ options }) => options;
