"use strict";
const { spawn } = require("node:child_process");
const path = require("node:path");

/** The path of the program: SITELINK_BINARY, or that of the package for this platform. */
exports.binary = function binary() {
  if (process.env.SITELINK_BINARY) return process.env.SITELINK_BINARY;
  const name = `@sitelink/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/sitelink${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    throw new Error(
      `the package ${name} is not installed. Install without --omit=optional (--no-optional); ` +
        "if there is no such package, set SITELINK_BINARY to a sitelink that you built",
    );
  }
};

/** A hook of git, for example, checks what it builds, and stops only for new findings. */
const left = "sitelink started this build, and checks the site itself";

/**
 * Checks a built site. Resolves to {ok, report}: ok is false if there are findings at or
 * above failOn, and report is the text for people. With options.seen, a Set that the caller
 * keeps, the report has only the causes that the check before did not find. With
 * options.parallel, other plugins may be writing files, such as a feed: a finding counts if it
 * is there a second later, too. It rejects if the site could not be checked.
 */
exports.check = async function check(docroot, options = {}) {
  const { seen, parallel } = options;
  docroot = relative(docroot);
  const line = ["check", docroot, "--format", seen ? "json" : "text", ...flags(options)];
  if (process.env.SITELINK_OUT) return { ok: true, report: left };
  let ended = await run(line);
  for (let before; parallel && ended.code === 1 && ended.stdout !== before; ) {
    before = ended.stdout;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    ended = await run(line);
  }
  const { code, stdout, stderr } = ended;
  if (code !== 0 && code !== 1) throw new Error(`sitelink could not check ${docroot} (exit code ${code}):\n${stderr.trim() || stdout.trim()}`);
  const report = seen ? news(JSON.parse(stdout).findings, seen, docroot) : stdout.trimEnd();
  return { ok: code === 0, report: [report, stderr.trim()].filter(Boolean).join("\n") };
};

/**
 * The arguments of sitelink check for these options. It throws for an option that it does not
 * know, so a plugin calls it when it is loaded: a build may take minutes.
 */
function flags({ seen, parallel, args = [], ...options } = {}) {
  const names = { failOn: "--fail-on", ignore: "--ignore", baseline: "--baseline", baseUrl: "--base-url" };
  const line = [];
  for (const [name, value] of Object.entries(options)) {
    if (!names[name]) throw new Error(`sitelink: unknown option "${name}"; the options are ${Object.keys(names).join(", ")} and args`);
    for (const one of [].concat(value ?? [])) line.push(names[name], one);
  }
  return [...line, ...args];
}
exports.flags = flags;

/** The error of a build whose report has just been printed; a stack would only hide it. */
exports.failure = function failure() {
  const error = new Error("sitelink found broken links; the report is above");
  error.stack = error.message;
  return error;
};

/** A path as people write it: below the working directory without that. */
function relative(name) {
  const rel = path.relative(process.cwd(), name) || ".";
  return rel.startsWith("..") || path.isAbsolute(rel) ? name : rel;
}

function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(exports.binary(), args, { windowsHide: true });
    const out = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8");
      child[name].on("data", (text) => (out[name] += text));
    }
    child.on("error", (error) => reject(new Error(`sitelink could not be started: ${error.message}`)));
    child.on("close", (code, signal) => resolve({ code: code ?? signal, ...out }));
  });
}

/** One line for each cause that is not in seen, which then has the causes of this check. */
function news(findings, seen, docroot) {
  const now = new Map(findings.filter((f) => !seen.has(f.cause)).map((f) => [f.cause, f]));
  seen.clear();
  for (const f of findings) seen.add(f.cause);
  return [...now.values()]
    .map((f) => {
      const { file, line, column } = f.source ?? { file: path.join(docroot, f.page), line: f.line, column: f.column };
      const place = line ? `${file}:${line}:${column}` : file;
      return `${place}: ${f.verdict}: ${f.message} [${f.code}]` + (f.suggestion ? `\n    did you mean ${f.suggestion}?` : "");
    })
    .join("\n");
}
