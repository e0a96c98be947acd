import sitelink from "vite-plugin-sitelink";

export default { plugins: [sitelink()] };
