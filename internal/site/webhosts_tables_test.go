package site

// webHostTables are the tables of testdata/hosts and the profile of each.
var webHostTables = []struct {
	table   string
	profile func() Profile
	excuses []excuse
}{
	{table: "cloudflare-pages", profile: builtin("cloudflare-pages"), excuses: []excuse{fails}},
	{table: "cloudflare-pages-app", profile: builtin("cloudflare-pages"), excuses: []excuse{fails}},
	{table: "netlify", profile: builtin("netlify")},
	{table: "firebase", profile: builtin("firebase"), excuses: []excuse{fails}},
	{table: "hugo-server", profile: builtin("hugo-server")},
	{table: "s3", profile: builtin("s3"), excuses: []excuse{fails}},
}

func builtin(name string) func() Profile {
	return func() Profile {
		p, ok := ProfileByName(name)
		if !ok {
			panic("no profile " + name)
		}
		return p
	}
}

// fails: a server of the makers that runs at home stops with an error of its
// file system or of its own, where the host looks a name up in a list.
var fails = excuse{"the software fails (5xx), we say that nothing answers", func(row, got hostRow) bool {
	return row.status >= 500 && got.status >= 400 && got.status < 500
}}
