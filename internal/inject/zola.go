package inject

func findZola(p *project) (finding, error) { return finding{}, nil }
