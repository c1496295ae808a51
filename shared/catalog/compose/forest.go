package compose

// forest is sets of things that are numbered, each with the smallest of its numbers for a root.
type forest struct{ parents []int }

func newForest(size int) forest {
	f := forest{make([]int, size)}
	for i := range f.parents {
		f.parents[i] = i
	}
	return f
}

func (f forest) root(i int) int {
	for f.parents[i] != i {
		f.parents[i] = f.parents[f.parents[i]]
		i = f.parents[i]
	}
	return i
}

// join makes two sets one, and reports whether they were two.
func (f forest) join(i, j int) bool {
	i, j = f.root(i), f.root(j)
	if i == j {
		return false
	}
	f.parents[max(i, j)] = min(i, j)
	return true
}
