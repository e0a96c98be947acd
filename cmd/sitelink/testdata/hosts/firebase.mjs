// superstatic, the server behind "firebase serve" and the Hosting emulator.
import { announce, config, docroot, load, settings } from "./packages.mjs";

const { default: superstatic } = await load("superstatic");
const hosting = { ...config("firebase.json").hosting, public: ".", ...settings };
const app = superstatic.server({ port: 0, host: "127.0.0.1", cwd: docroot, config: hosting });
const server = app.listen(() => announce(server));
