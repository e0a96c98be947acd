// Drives the language server with the protocol library that vscode-languageclient is
// made of: diagnostics of a buffer, completion, hover, definition, references, code
// actions, and the end of the server. SITELINK names the program.
"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const lsp = require("vscode-languageserver-protocol/node");

const patience = 60_000; // milliseconds, for one answer on a busy machine

const files = {
  "hugo.toml": "baseURL = 'https://me.example/'\ntitle = 'Me'\n",
  "content/posts/knots.md": "---\ntitle: Knots\n---\n## Bowline\n\ntext\n",
  "content/posts/tides.md": "---\ntitle: Tides\n---\n[good](/posts/knots/#bowline) [bad](/posts/knotts/)\n",
  "public/index.html": '<!doctype html><title>Me</title><a href="/posts/knots/">k</a>\n',
  "public/posts/knots/index.html": '<!doctype html><title>Knots</title><h2 id="bowline">Bowline</h2><p>text</p>\n',
  "public/posts/tides/index.html":
    '<!doctype html><title>Tides</title><p><a href="/posts/knots/#bowline">good</a> <a href="/posts/knotts/">bad</a></p>\n',
};

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no ${what} within ${patience / 1000} seconds`)), patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function main() {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "sitelink-vscode-")));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dir, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  const server = spawn(process.env.SITELINK || "sitelink", ["lsp"], { cwd: dir, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  try {
    await drive(dir, server, ended);
  } finally {
    server.kill();
    fs.rmSync(dir, { recursive: true, force: true });
  }
}

async function drive(dir, server, ended) {
  const connection = lsp.createProtocolConnection(
    new lsp.StreamMessageReader(server.stdout),
    new lsp.StreamMessageWriter(server.stdin),
  );
  const published = new Map();
  let changed = () => {};
  connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
    published.set(p.uri, p.diagnostics);
    changed();
  });
  connection.onRequest(lsp.RegistrationRequest.type, () => {});
  connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, () => {});
  connection.onRequest(lsp.CodeLensRefreshRequest.type, () => {});
  connection.listen();

  // diagnostics waits until those of a document have a property.
  const diagnostics = (uri, what, is) =>
    within(
      new Promise((resolve) => {
        changed = () => published.has(uri) && is(published.get(uri)) && resolve(published.get(uri));
        changed();
      }),
      what,
    );
  const ask = (type, params) => within(connection.sendRequest(type, params), type.method);

  const root = pathToFileURL(dir).href;
  const { capabilities, serverInfo } = await ask(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: root,
    workspaceFolders: [{ uri: root, name: "site" }],
    capabilities: { window: { workDoneProgress: true }, workspace: { workspaceFolders: true, codeLens: { refreshSupport: true } } },
  });
  assert.equal(serverInfo.name, "sitelink");
  assert.equal(capabilities.textDocumentSync.change, lsp.TextDocumentSyncKind.Incremental);
  await connection.sendNotification(lsp.InitializedNotification.type, {});

  const file = path.join(dir, "content/posts/tides.md");
  const uri = pathToFileURL(file).href;
  const text = files["content/posts/tides.md"];
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "markdown", version: 1, text },
  });

  // The broken link is underlined, exactly its destination.
  const line = text.split("\n")[3];
  const at = (part) => ({ line: 3, character: line.indexOf(part) });
  const [bad] = await diagnostics(uri, "diagnostics", (all) => all.length === 1);
  assert.equal(bad.severity, lsp.DiagnosticSeverity.Error);
  assert.deepEqual(bad.range.start, at("/posts/knotts/"));
  assert.equal(bad.range.end.character - bad.range.start.character, "/posts/knotts/".length);

  // Code actions repair it.
  const actions = await ask(lsp.CodeActionRequest.type, { textDocument: { uri }, range: bad.range, context: { diagnostics: [bad] } });
  assert.ok(
    actions.some((a) => JSON.stringify(a.edit ?? {}).includes("/posts/knots/")),
    `no action repairs the link: ${JSON.stringify(actions)}`,
  );

  // Where the good link leads.
  const position = { line: 3, character: at("/posts/knots/#bowline").character + 3 };
  const hover = await ask(lsp.HoverRequest.type, { textDocument: { uri }, position });
  assert.match(JSON.stringify(hover.contents), /Knots|posts\/knots/);
  const definition = [await ask(lsp.DefinitionRequest.type, { textDocument: { uri }, position })].flat();
  assert.match(definition[0].uri ?? definition[0].targetUri, /content\/posts\/knots\.md$/);
  const references = await ask(lsp.ReferencesRequest.type, { textDocument: { uri }, position, context: { includeDeclaration: false } });
  assert.ok(references.some((r) => r.uri === uri), `the link is not among the references: ${JSON.stringify(references)}`);

  // An unsaved repair takes the diagnostic away, and new text is completed.
  const changeTo = async (version, range, text) =>
    connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version },
      contentChanges: [{ range, text }],
    });
  await changeTo(2, bad.range, "/posts/knots/");
  await diagnostics(uri, "diagnostics of the repaired text", (all) => all.length === 0);
  const end = { line: 4, character: 0 };
  await changeTo(3, { start: end, end }, "[new](/po)\n");
  const completion = await ask(lsp.CompletionRequest.type, { textDocument: { uri }, position: { line: 4, character: "[new](/po".length } });
  const items = completion.items ?? completion;
  assert.ok(items.some((i) => `${i.label} ${JSON.stringify(i.textEdit ?? i.insertText ?? "")}`.includes("/posts/knots/")), JSON.stringify(items));

  await ask(lsp.ShutdownRequest.type);
  await connection.sendNotification(lsp.ExitNotification.type);
  assert.equal(await within(ended, "end of the server"), 0);
  console.log("ok: the client library and the server understand each other");
}

main().catch((err) => {
  console.error(err);
  process.exitCode = 1;
});
