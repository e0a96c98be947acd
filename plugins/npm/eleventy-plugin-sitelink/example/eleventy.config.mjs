import sitelink from "eleventy-plugin-sitelink";

export default (config) => {
  config.addPlugin(sitelink);
};
