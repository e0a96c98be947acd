export default {
  title: "Example",
  url: "https://example.org",
  baseUrl: "/",
  presets: [["classic", { docs: { routeBasePath: "/" }, blog: false }]],
  plugins: ["docusaurus-plugin-sitelink"],
};
