package inject

func findJekyll(p *project) (finding, error) { return finding{}, nil }
