#!/usr/bin/env node
"use strict";
// Runs the program with the arguments of this process, and ends as it ends.
const { spawnSync } = require("node:child_process");
const { binary } = require("./index.js");

let ended;
try {
  ended = spawnSync(binary(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
  if (ended.error) throw ended.error;
} catch (error) {
  console.error(`sitelink: error: ${error.message}`);
  process.exit(3);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exit(ended.status);
