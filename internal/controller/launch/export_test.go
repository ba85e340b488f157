package launch

// Alone has a reconciler work without a manager: what it reads is never old.
func (r *Reconciler) Alone() *Reconciler {
	r.live, r.memory = r.Client, newMemory(r.Now)
	return r
}
