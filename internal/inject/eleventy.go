package inject

func findEleventy(p *project) (finding, error) { return finding{}, nil }
