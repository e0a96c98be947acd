package check

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
)

// titleWords are the words of titles in generated sites.
var titleWords = strings.Fields(`backup restore schedule volume snapshot plugin provider cluster migration upgrade install configure
	troubleshooting overview reference storage location credential policy filter hook resource namespace controller gateway
	routing certificate rotation metrics logging tracing performance security network service deployment container image
	registry release support community contribute development design proposal roadmap example tutorial quickstart`)

// titles returns n different titles as they are in addresses.
func titles(rng *rand.Rand, n int) []string {
	var out []string
	seen := map[string]bool{}
	for len(out) < n {
		words := make([]string, 2+rng.IntN(3))
		for i := range words {
			words[i] = titleWords[rng.IntN(len(titleWords))]
		}
		if t := strings.Join(words, "-"); !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// generatedPage returns a page with headings and links.
func generatedPage(ids, hrefs []string) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>x</title>")
	for _, id := range ids {
		fmt.Fprintf(&b, `<h2 id="%s">x</h2>`, id)
	}
	for _, href := range hrefs {
		fmt.Fprintf(&b, `<a href="%s">x</a>`, href)
	}
	return b.String()
}

// versionedSite is documentation in several versions. Most pages are the same in
// all, and addresses end in a slash.
func versionedSite(rng *rand.Rand) files {
	fs := files{}
	all, headings := titles(rng, 60), titles(rng, 200)
	for v := range 5 {
		var dirs []string
		for i, title := range all {
			if i >= 30+6*v { // later versions have more pages
				break
			}
			section := []string{"", "concepts/", "guides/", "reference/"}[i%4]
			dirs = append(dirs, fmt.Sprintf("docs/v1.%d/%s%s/", v, section, title))
		}
		for i, dir := range dirs {
			ids := headings[i*3 : i*3+5]
			hrefs := []string{"#" + ids[i%5], "/"}
			for range 6 {
				to := rng.IntN(len(dirs))
				hrefs = append(hrefs, "/"+dirs[to], "/"+dirs[to]+"#"+headings[to*3+rng.IntN(5)])
			}
			fs[dir+"index.html"] = generatedPage(ids, hrefs)
		}
	}
	fs["index.html"] = generatedPage(nil, nil)
	return fs
}

// blogSite is a blog in two languages with posts by date, and images.
func blogSite(rng *rand.Rand) files {
	fs := files{}
	var pages, images []string
	for i, title := range titles(rng, 160) {
		lang := []string{"en", "fr"}[i%2]
		pages = append(pages, fmt.Sprintf("%s/%d/%02d/%s/", lang, 2015+i%8, 1+i%12, title))
		images = append(images, fmt.Sprintf("images/%d/%s.png", 2015+i%8, title))
		fs[images[i]] = "x"
	}
	for i, p := range pages {
		hrefs := []string{"/" + images[i]}
		for range 5 {
			hrefs = append(hrefs, "/"+pages[rng.IntN(len(pages))])
		}
		fs[p+"index.html"] = generatedPage(titles(rng, 4), hrefs)
	}
	fs["index.html"] = generatedPage(nil, nil)
	return fs
}

// apiSite is the documentation of a library: relative links, files with an
// extension, the same names in many directories, ids in a notation.
func apiSite(rng *rand.Rand) files {
	fs := files{}
	modules := titles(rng, 14)
	type class struct{ module, name string }
	var classes []class
	for _, m := range modules {
		for _, title := range titles(rng, 10) {
			classes = append(classes, class{m, "class." + strings.ReplaceAll(title, "-", "_") + ".html"})
		}
		fs["api/"+m+"/index.html"] = generatedPage(nil, nil)
		fs["api/"+m+"/README.md"] = "x"
		fs["api/"+m+"/config.hpp"] = "x"
	}
	methods := titles(rng, 300)
	for i, c := range classes {
		ids := make([]string, 6)
		for k := range ids {
			ids[k] = "method." + strings.ReplaceAll(methods[(i*2+k)%300], "-", "_")
		}
		var hrefs []string
		for range 6 {
			j := rng.IntN(len(classes))
			to := "../" + classes[j].module + "/" + classes[j].name
			hrefs = append(hrefs, to, to+"#method."+strings.ReplaceAll(methods[(j*2+rng.IntN(6))%300], "-", "_"))
		}
		fs["api/"+c.module+"/"+c.name] = generatedPage(ids, append(hrefs, "../"+c.module+"/config.hpp"))
	}
	fs["index.html"] = generatedPage(nil, nil)
	return fs
}

// TestSuggestionQuality measures the suggestions on generated sites, as
// TestSuggestionsCorpora does on real ones.
func TestSuggestionQuality(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	total := map[string]score{}
	for _, site := range []struct {
		name  string
		files files
	}{{"versions", versionedSite(rng)}, {"blog", blogSite(rng)}, {"api", apiSite(rng)}} {
		scores := measureSuggestions(t, tempDocroot(t, site.files), 25, func(kind, line string) {
			if strings.HasPrefix(line, "WRONG") || strings.HasPrefix(line, "NO ANSWER") {
				t.Logf("%s: %s: %s", site.name, kind, line)
			}
		})
		t.Logf("%s\n%s", site.name, scoreTable(scores))
		for name, c := range scores {
			sum := total[name]
			sum.add(c)
			total[name] = sum
		}
	}
	if meant, never := summarize(total); meant.breaks < 500 || never.breaks < 80 {
		t.Fatalf("only %d breaks, %d that mean nothing", meant.breaks, never.breaks)
	}
	requireQuality(t, total)
}

// TestSuggestedCase: a link in wrong letter case that a host refuses gets the
// right one, on every profile, and so does one that the host accepts although
// others do not.
func TestSuggestedCase(t *testing.T) {
	fs := files{"Docs/Guide-Page.html": plain, "Docs/Sub-Dir/index.html": plain, "Img/Logo.png": "x"}
	links := []string{"docs/Guide-Page.html", "Docs/guide-page.html", "DOCS/GUIDE-PAGE", "docs/guide-page/", "Docs/sub-dir/", "docs/SUB-DIR", "Docs/sub-dir/index.html", "img/Logo.png", "IMG/logo.PNG"}
	for _, profile := range host.Profiles() {
		t.Run(profile.Name, func(t *testing.T) {
			refused := 0
			for _, link := range links {
				fs["index.html"] = plain + `<a href="` + link + `">x</a>`
				r := checkFiles(t, fs, isite.Options{Profile: profile}, Options{})
				if len(r.Findings) == 0 {
					continue
				}
				f := r.Findings[0]
				refused++
				if bareAddress(link) != bareAddress(f.Suggestion) {
					t.Errorf("%s, %s: suggestion %q", link, f.Code, f.Suggestion)
				}
				fs["index.html"] = plain + `<a href="` + f.Suggestion + `">x</a>`
				if again := checkFiles(t, fs, isite.Options{Profile: profile}, Options{}); len(again.Findings) > 0 {
					t.Errorf("%s: the suggestion %q is a finding: %v", link, f.Suggestion, briefs(again.Findings))
				}
			}
			if refused == 0 {
				t.Error("no link in wrong letter case is a finding")
			}
		})
	}
}
