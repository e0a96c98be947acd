import sitelink from "astro-sitelink";

export default { integrations: [sitelink()] };
