// Loads the extension with stand-ins for VS Code and its language client, and checks
// which server it starts, how, and what its commands do.
"use strict";

const assert = require("node:assert/strict");
const Module = require("node:module");

const settings = { path: "/opt/sitelink", build: true };
const commands = new Map();
const executed = [];
const events = {};
const errors = [];
const clients = [];

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

const vscode = {
  Position,
  Uri: { parse: (text) => ({ text }) },
  window: { showErrorMessage: (text) => errors.push(text) },
  commands: {
    registerCommand: (name, run) => (commands.set(name, run), { dispose() {} }),
    executeCommand: async (...args) => (executed.push(args), args[0] === "vscode.executeReferenceProvider" ? ["here"] : undefined),
  },
  workspace: {
    isTrusted: false,
    getConfiguration: (section) => (assert.equal(section, "sitelink"), { get: (key) => settings[key] }),
    onDidGrantWorkspaceTrust: (run) => ((events.trust = run), { dispose() {} }),
    onDidChangeConfiguration: (run) => ((events.configuration = run), { dispose() {} }),
  },
};

class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(this, { id, server, options, running: false });
    clients.push(this);
  }
  async start() {
    if (this.server.run.command === "missing") throw new Error("spawn missing ENOENT");
    this.running = true;
  }
  async stop() {
    this.running = false;
  }
}

const load = Module._load;
Module._load = function (name, ...rest) {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient, TransportKind: { stdio: 0 } };
  return load.call(this, name, ...rest);
};

async function main() {
  const extension = require("../extension.js");
  const contributes = require("../package.json").contributes;
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.equal(clients.length, 1);
  assert.deepEqual([clients[0].server.run.command, clients[0].server.run.args], ["/opt/sitelink", ["lsp"]]);
  assert.ok(clients[0].running);
  assert.ok(clients[0].options.documentSelector.some((d) => d.language === "markdown" && d.scheme === "file"));
  assert.equal(clients[0].options.initializationOptions.build, false, "an untrusted workspace is built");
  for (const c of contributes.commands) assert.ok(commands.has(c.command), `${c.command} has no function`);
  for (const setting of Object.values(contributes.configuration.properties)) assert.equal(setting.scope, "machine", "a workspace can set it");

  vscode.workspace.isTrusted = true;
  await events.trust();
  assert.deepEqual([clients.length, clients[0].running, clients[1].running], [2, false, true]);
  assert.equal(clients[1].options.initializationOptions.build, true);

  await events.configuration({ affectsConfiguration: (section) => section === "another" });
  assert.equal(clients.length, 2);
  settings.path = "missing";
  await events.configuration({ affectsConfiguration: (section) => section === "sitelink" });
  assert.match(errors.join(), /does not start: spawn missing ENOENT\. Install sitelink, or set sitelink\.path/);
  await extension.deactivate();
  assert.ok(clients.every((c) => !c.running));

  await commands.get("sitelink.showReferences")("file:///a.md", { line: 3, character: 4 });
  assert.deepEqual(executed, [
    ["vscode.executeReferenceProvider", { text: "file:///a.md" }, new Position(3, 4)],
    ["editor.action.showReferences", { text: "file:///a.md" }, new Position(3, 4), ["here"]],
  ]);
  assert.equal(context.subscriptions.length, 4);
  console.log("ok: the extension starts the server and restarts it");
}

main().catch((err) => {
  console.error(err);
  process.exitCode = 1;
});
