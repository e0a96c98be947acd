package main

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ciFiles are the files by which servers are told what to run, and directories
// of such files.
var ciFiles = []string{
	".gitlab-ci.yml", ".gitlab", "netlify.toml", "vercel.json", ".circleci/config.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml",
	".github/workflows", ".woodpecker.yml", ".woodpecker", ".forgejo/workflows", ".gitea/workflows", ".builds", ".build.yml", "Jenkinsfile",
}

// maxCIBytes is how much of such a file is read, maxCIFiles how many of a
// directory.
const (
	maxCIBytes = 1 << 20
	maxCIFiles = 100
)

// runsIn lists the files that let a server run sitelink, as seen from the root of
// the repository.
func (s *surroundings) runsIn() (files []string) {
	for _, dir := range slices.Compact([]string{"", s.project.Below}) {
		for _, name := range ciFiles {
			name = path.Join(dir, name)
			full := filepath.Join(s.root, filepath.FromSlash(name))
			entries, err := os.ReadDir(full)
			if err != nil {
				if runsSitelink(full) {
					files = append(files, name)
				}
				continue
			}
			for _, e := range entries[:min(len(entries), maxCIFiles)] {
				if runsSitelink(filepath.Join(full, e.Name())) {
					files = append(files, path.Join(name, e.Name()))
				}
			}
		}
	}
	return files
}

// runsSitelink tells whether a file mentions a command of ours, or the action.
func runsSitelink(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCIBytes {
		return false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		code, _, _ := strings.Cut(string(line), "#")
		for _, word := range []string{"sitelink check", "sitelink build", "sitelink/sitelink@", "sitelink.git"} {
			if strings.Contains(code, word) {
				return true
			}
		}
	}
	return false
}
