// The extension starts sitelink's language server for the folders of the workspace.
// Everything else, such as diagnostics and completion, vscode-languageclient does.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

const languages = ["markdown", "html", "css", "toml", "yaml", "json"];

/** start starts the server, by the settings of the user. */
async function start() {
  const settings = vscode.workspace.getConfiguration("sitelink");
  const server = { command: settings.get("path") || "sitelink", args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient("sitelink", "sitelink", { run: server, debug: server }, {
    documentSelector: languages.map((language) => ({ scheme: "file", language })),
    initializationOptions: { build: vscode.workspace.isTrusted && settings.get("build") === true },
  });
  try {
    await client.start();
  } catch (err) {
    client = undefined;
    vscode.window.showErrorMessage(
      `sitelink: the language server does not start: ${err.message}. Install sitelink, or set sitelink.path to the program.`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

/**
 * showReferences lists the references at a position: what the count above a heading
 * does. The server names the document and the position, and the client asks for the
 * references.
 * @param {string} uri
 * @param {{line: number, character: number}} from
 */
async function showReferences(uri, from) {
  const document = vscode.Uri.parse(uri);
  const position = new vscode.Position(from.line, from.character);
  const locations = await vscode.commands.executeCommand("vscode.executeReferenceProvider", document, position);
  await vscode.commands.executeCommand("editor.action.showReferences", document, position, locations ?? []);
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("sitelink.restart", restart),
    vscode.commands.registerCommand("sitelink.showReferences", showReferences),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("sitelink") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
