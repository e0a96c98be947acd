import sitelink from "vitepress-plugin-sitelink";

export default { title: "Example", buildEnd: sitelink() };
