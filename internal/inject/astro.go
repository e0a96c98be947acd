package inject

func findAstro(p *project) (finding, error) { return finding{}, nil }
