// made by sitelink: the project's configuration, in which the docroot is no input
const { pathToFileURL } = require("node:url");
const config = CONFIG;
module.exports = function (eleventyConfig) {
  eleventyConfig.ignores?.add(DIR + "/**");
  const join = (own, more) => ({ ...own, ...more, dir: { ...own?.dir, ...more?.dir } });
  const apply = (module) => {
    const own = module.default ?? module;
    const more = module.config ?? own.config;
    const result = typeof own === "function" ? own(eleventyConfig) : own;
    return result?.then ? result.then((result) => join(result, more)) : join(result, more);
  };
  if (!config) return {};
  let module;
  try {
    module = require(config);
  } catch (e) {
    if (!/^ERR_(REQUIRE_|UNKNOWN_FILE_EXTENSION)/.test(e.code) && !(e instanceof SyntaxError)) throw e;
    return import(pathToFileURL(config).href).then(apply);
  }
  return apply(module);
};
