package compose

// forest partitions integers into sets. The root of a set is the set's smallest integer.
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

// join merges the sets that contain i and j, and reports whether they were distinct.
func (f forest) join(i, j int) bool {
	i, j = f.root(i), f.root(j)
	if i == j {
		return false
	}
	f.parents[max(i, j)] = min(i, j)
	return true
}
