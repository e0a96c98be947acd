"use strict";
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
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

/**
 * Checks a built site. Resolves to {ok, report, findings}: ok is false if there are findings
 * at or above failOn, and report is the text for people. With options.seen, a Set that the
 * caller keeps, the report has only the causes that earlier calls did not find. It rejects
 * if the site could not be checked.
 */
exports.check = async function check(docroot, options = {}) {
  const { failOn, ignore = [], baseline, baseUrl, args = [], seen } = options;
  const unknown = Object.keys(options).find((key) => !["failOn", "ignore", "baseline", "baseUrl", "args", "seen"].includes(key));
  if (unknown) throw new Error(`sitelink: unknown option "${unknown}"; the options are failOn, ignore, baseline, baseUrl and args`);
  docroot = relative(docroot);
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "sitelink-"));
  try {
    const json = path.join(dir, "report.json");
    const flags = ["check", docroot, "--format", "text", "--format", `json=${json}`];
    if (failOn) flags.push("--fail-on", failOn);
    if (baseline) flags.push("--baseline", baseline);
    if (baseUrl) flags.push("--base-url", baseUrl);
    for (const rule of [].concat(ignore)) flags.push("--ignore", rule);
    const { code, stdout, stderr } = await run([...flags, ...args]);
    if (code !== 0 && code !== 1) throw new Error(`sitelink could not check ${docroot} (exit code ${code}):\n${stderr.trim() || stdout.trim()}`);
    const findings = JSON.parse(fs.readFileSync(json, "utf8")).findings;
    const report = seen ? news(findings, seen, docroot) : stdout.trimEnd();
    return { ok: code === 0, report: [report, stderr.trim()].filter(Boolean).join("\n"), findings };
  } finally {
    fs.rmSync(dir, { recursive: true, force: true });
  }
};

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
