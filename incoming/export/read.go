package export

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/system"
)

// HugoPartial is the partial sitelink/mentions.html of Hugo, which shows the mentions of
// a page from an export to data/mentions.
//
//go:embed show/mentions.html
var HugoPartial string

// GoTemplate shows the mentions of a page, a []Item, with html/template. Parse it as a
// template of its own, such as "mentions.html".
//
//go:embed show/mentions.gohtml
var GoTemplate string

// Script is the optional script that adds mentions that were approved after the build,
// see [Live]. The partial of Hugo expects it in assets/sitelink-mentions.js, or in the
// folder static.
//
//go:embed show/mentions.js
var Script string

// Read returns the mentions of an export in JSON by page, for a program that builds a
// site. Its keys are those of [PageOf], and the mentions of a page are in the order of
// [PageFile]. A directory without export has no mentions. All sources are http or https URLs.
// The error names the file that cannot be read; an export in another format is one.
func Read(fsys fs.FS) (map[string][]Item, error) {
	text, err := system.ReadFS(fsys, indexName+".json", maxFileBytes)
	if err != nil {
		if _, dir := fs.Stat(fsys, pagesDir); dir != nil && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, fmt.Errorf("read an export of mentions: %s.json: %w", indexName, err)
	}
	var index Index
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, fmt.Errorf("read an export of mentions: %s.json: %w", indexName, err)
	}
	all := map[string][]Item{}
	for path, entry := range index.Pages {
		name := pagesDir + "/" + entry.File + ".json"
		text, err := system.ReadFS(fsys, name, maxFileBytes)
		if err != nil {
			return nil, fmt.Errorf("read an export of mentions: %s: %w", name, err)
		}
		var page PageFile
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, fmt.Errorf("read an export of mentions: %s: %w", name, err)
		}
		all[path] = slices.DeleteFunc(page.Mentions, func(i Item) bool { return !isWeb(i.Source) }) // after an edit
	}
	return all, nil
}

// maxFileBytes is the size of the largest file that [Read] reads.
const maxFileBytes = 64 << 20

// maxLive is the number of mentions that [Live] returns at most, the newest.
const maxLive = 200

// Live returns a handler for the optional script of the templates: GET with the
// parameter target, the address of a page, answers with the approved mentions of that
// page as in its file in JSON. Any site may read the answer, which is as public as the
// page; a cache may keep it for a minute.
func Live(store incoming.Store) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
			return
		}
		target := r.FormValue("target")
		path, ok := PageOf(target)
		if !ok {
			http.Error(w, "The parameter target has to be the address of a page.", http.StatusBadRequest)
			return
		}
		page := PageFile{Generator: generator, Page: path, Mentions: []Item{}}
		filter := incoming.Filter{States: []incoming.State{incoming.Approved}, Action: []incoming.Action{incoming.Link}, Target: target}
		for m, err := range store.List(r.Context(), filter) {
			if err != nil {
				http.Error(w, "The mentions cannot be read now.", http.StatusInternalServerError)
				return
			}
			if isWeb(m.Source) {
				page.Mentions = append(page.Mentions, itemOf(m))
			}
			if len(page.Mentions) >= 2*maxLive {
				page.Mentions = newest(page.Mentions)
			}
		}
		page.Mentions = newest(page.Mentions)
		text, err := encodeJSON(&page)
		if err != nil {
			http.Error(w, "The mentions cannot be read now.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "public, max-age=60")
		w.Write(text)
	})
}

// newest returns the newest items, sorted as in a file.
func newest(items []Item) []Item {
	slices.SortFunc(items, compareItems)
	return slices.Delete(items, 0, max(0, len(items)-maxLive))
}
