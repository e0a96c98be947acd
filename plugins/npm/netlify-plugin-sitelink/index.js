"use strict";
const { check } = require("sitelink");

/** Keeps .sitelink, with what sitelink remembers of other sites, from one build to the next. */
exports.onPreBuild = ({ utils }) => utils.cache.restore(".sitelink");

/** Checks the site that will be published; a build with findings fails, and nothing is deployed. */
exports.onPostBuild = async ({ constants, inputs, utils }) => {
  let result;
  try {
    result = await check(constants.PUBLISH_DIR, inputs);
  } catch (error) {
    return utils.build.failBuild(error.message);
  } finally {
    await utils.cache.save(".sitelink");
  }
  if (!result.ok) return utils.build.failBuild(`sitelink found broken links:\n${result.report}`);
  console.log(result.report);
  utils.status.show({ title: "sitelink", summary: result.report.split("\n").find((line) => /\bcheck(ed|s) /.test(line)) });
};
