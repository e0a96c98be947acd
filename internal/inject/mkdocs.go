package inject

func findMkDocs(p *project) (finding, error) { return finding{}, nil }
